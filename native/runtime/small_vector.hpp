#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace mpsgraph_native {

/// A growing array whose first `Inline` elements need no allocation.
template <class T, std::size_t Inline = 16>
class SmallVector {
 public:
  SmallVector() {}  // the inline elements stay as they are

  void push_back(T value) {
    if (size_ == Inline) overflow_.assign(inline_.begin(), inline_.end());
    if (size_ < Inline)
      inline_[size_] = value;
    else
      overflow_.push_back(value);
    ++size_;
  }
  std::size_t size() const { return size_; }
  T* data() { return size_ > Inline ? overflow_.data() : inline_.data(); }
  T& operator[](std::size_t index) { return data()[index]; }

 private:
  std::size_t size_ = 0;
  std::array<T, Inline> inline_;
  std::vector<T> overflow_;
};

}  // namespace mpsgraph_native
