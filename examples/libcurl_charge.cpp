// LIBRARIES: CURL::libcurl
// libcurl repeats a POST by itself where a reused connection closes without a byte. Here the repetition is noticed and refused.
#include <encore/encore.hpp>
#include <encore/outcome.hpp>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

/// A server that charges for each request, and loses its second answer with the connection.
class Bank {
 public:
  Bank() : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 1) != 0 ||
        ::getsockname(socket_, any, &size) != 0)
      throw std::runtime_error{"no port for the bank"};
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    thread_ = std::thread{[this] { serve(); }};
  }
  Bank(const Bank&) = delete;
  Bank& operator=(const Bank&) = delete;
  ~Bank() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  const std::string& url() const { return url_; }

 private:
  void serve() {
    for (int client = 0; (client = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(client)) {
      std::string request;
      char bytes[1024];
      for (::ssize_t got = 0; (got = ::read(client, bytes, sizeof bytes)) > 0;) {
        request.append(bytes, static_cast<std::size_t>(got));
        if (!request.ends_with("usd=20")) continue;
        request.clear();
        if (++charges_ == 2) break;
        constexpr char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npaid";
        if (::write(client, answer, sizeof answer - 1) < 0) break;
      }
    }
  }

  int socket_;
  std::string url_;
  std::thread thread_;
  int charges_ = 0;
};

std::size_t drop(char*, std::size_t size, std::size_t count, void*) { return size * count; }

int about_to_send(void* data, char*, char*, int, int) {
  const auto& attempt = *static_cast<const encore::Attempt*>(data);
  const bool again = attempt.notes().outcome_unknown();
  attempt.mark_dispatched();
  return again ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void charge(CURL* curl, const encore::Attempt& attempt) {
  curl_easy_setopt(curl, CURLOPT_PREREQDATA, &attempt);
  const auto code = curl_easy_perform(curl);
  if (code == CURLE_COULDNT_CONNECT) attempt.mark_not_run();
  if (code != CURLE_OK) throw std::runtime_error{curl_easy_strerror(code)};
  attempt.mark_answered();
}

}  // namespace

int main() {
  Bank bank;
  CURL* const curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, bank.url().c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "usd=20");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, about_to_send);

  const encore::RetryPolicy policy{
      encore::RetryOn<std::runtime_error>{}, encore::ReturnOutcome{},
      encore::Observe{[](const encore::Event& event) {
        if (event.notes != nullptr && event.kind != encore::EventKind::call_finished)
          if (event.notes->dispatched_again()) std::printf("a layer below sent it again\n");
      }}};
  for (const char* const id : {"charge-1", "charge-2"}) {
    const auto outcome = policy.run({.id = id, .replay = encore::ReplaySafety::never},
                                    [&](const encore::Attempt& attempt) { charge(curl, attempt); });
    std::printf("%s: %s\n", id, std::string{to_string(outcome.reason())}.c_str());
  }
  curl_easy_cleanup(curl);
}
