// An object in memory that can be made unwritable: from then on any write to it ends the test program.
#pragma once

#if __has_include(<sys/mman.h>) && __has_include(<unistd.h>)
#define ENCORE_TESTS_READ_ONLY 1
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace guard_test {

template <class T>
class ReadOnly {
 public:
  template <class... Args>
  explicit ReadOnly(Args&&... args) {
    if (page_ == MAP_FAILED) throw std::bad_alloc{};
    object_ = ::new (page_) T{std::forward<Args>(args)...};
  }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  ~ReadOnly() {
    allow_writing();
    std::destroy_at(object_);
    ::munmap(page_, size_);
  }

  T& get() noexcept { return *object_; }
  void forbid_writing() noexcept { ::mprotect(page_, size_, PROT_READ); }
  void allow_writing() noexcept { ::mprotect(page_, size_, PROT_READ | PROT_WRITE); }

 private:
  std::size_t size_ = (sizeof(T) / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + 1) *
                      static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  T* object_ = nullptr;
};

}  // namespace guard_test
#endif
