#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inject/nvtx/handles.h"
#include "json_text.h"
#include "layout.h"
#include "types.h"

namespace profshim::nvtx {

/// Functions return false, and write nothing, if the payload is too short or the type unknown.
class ScalarWriter {
 public:
  ScalarWriter(JsonText& json, EventMessage& message) : json_(json), message_(message) {}

  bool write_enum(const Schema& schema, const Bytes& bytes);
  /// `width`: bytes per character. Stops at a zero.
  void write_text(const Bytes& data, std::size_t width, std::size_t count, bool is_message);
  /// Types without a JSON number become hexadecimal text.
  bool write(std::uint64_t type, const Bytes& data, bool is_message);

 private:
  void write_flags(const Schema& schema, std::uint64_t value);
  bool write_real(std::uint64_t type, const Bytes& data);
  bool write_hex(std::uint64_t type, const Bytes& data);

  template <class T, class Print>
  static bool load(const Bytes& data, const Print& print) {
    T value;
    if (!data.load(0, value)) return false;
    print(value);
    return true;
  }
  template <class T>
  bool integer(const Bytes& data) {
    return load<T>(data, [this](T value) { json_.number(value); });
  }
  template <class T>
  bool real(const Bytes& data) {
    return load<T>(data, [this](T value) { json_.real(static_cast<double>(value)); });
  }

  JsonText& json_;
  EventMessage& message_;
};

}  // namespace profshim::nvtx
