// Single values of a payload as JSON: numbers, texts, members of enums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inject/nvtx/handles.h"
#include "json_text.h"
#include "layout.h"

namespace profshim::nvtx {

class ScalarWriter {
 public:
  ScalarWriter(Json& json, std::string_view& message) : json_(json), message_(message) {}

  bool enum_value(const Schema& schema, const Bytes& bytes);
  /// `n` characters at most, up to a zero.
  void text(const Bytes& data, std::size_t character, std::size_t n, bool message);
  bool scalar(std::uint64_t type, const Bytes& data, bool message);

 private:
  template <class T, class Print>
  static bool with(const Bytes& data, const Print& print) {
    T value;
    if (!data.load(0, value)) return false;
    print(value);
    return true;
  }

  template <class T>
  bool integer(const Bytes& data) {
    return with<T>(data, [this](T value) { json_.number(value); });
  }

  template <class T>
  bool real(const Bytes& data) {
    return with<T>(data, [this](T value) { json_.real(static_cast<double>(value)); });
  }

  Json& json_;
  std::string_view& message_;
};

}  // namespace profshim::nvtx
