// What a number of trials says of a quantity.
#pragma once
#include <cmath>

namespace simulation {

/// Mean and standard error of numbers that come one by one (Welford, 1962).
class Sample {
 public:
  void add(double value) noexcept {
    ++count_;
    const double before = value - mean_;
    mean_ += before / count_;
    squares_ += before * (value - mean_);
  }
  double count() const noexcept { return count_; }
  double mean() const noexcept { return mean_; }
  double standard_error() const noexcept {
    return count_ < 2 ? 0.0 : std::sqrt(squares_ / (count_ - 1.0) / count_);
  }

 private:
  double count_ = 0.0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

}  // namespace simulation
