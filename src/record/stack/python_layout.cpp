#include "python_layout.h"

#include <dlfcn.h>

#include <cstring>
#include <optional>

#include "profshim/base/text/number_text.h"

namespace profshim::recorder::python {
namespace {

constexpr Layout k3_10 = {.state_frame = 24,
                          .previous = 24,
                          .code = 32,
                          .instruction = 96,
                          .file = 104,
                          .function = 112,
                          .first_line = 40,
                          .lines = 120,
                          .bytes = 48,
                          .argument_count = 16,
                          .locals = 352,
                          .ascii = 48,
                          .wide = 72,
                          .is_3_10 = true};
constexpr Layout k3_11 = {.state_frame = 56,
                          .indirect_frame = 8,
                          .previous = 48,
                          .code = 32,
                          .instruction = 56,
                          .file = 112,
                          .function = 128,
                          .first_line = 72,
                          .lines = 136,
                          .bytes = 184,
                          .argument_count = 56,
                          .locals = 72,
                          .ascii = 48,
                          .wide = 72,
                          .is_indirect = true};
constexpr Layout k3_12 = {.state_frame = 56,
                          .indirect_frame = 0,
                          .previous = 8,
                          .code = 0,
                          .instruction = 56,
                          .owner = 70,
                          .file = 112,
                          .function = 128,
                          .first_line = 68,
                          .lines = 136,
                          .bytes = 192,
                          .argument_count = 52,
                          .locals = 72,
                          .ascii = 40,
                          .wide = 56,
                          .is_indirect = true,
                          .has_entry_frames = true};

/// tp_basicsize of each type.
struct Sizes {
  std::int64_t code, frame, str, bytes;
};

/// Indices into _Py_DebugOffsets, an array of 8-byte numbers: cookie, version, free-threading flag, offsets.
struct Places {
  std::uint8_t state_frame, previous, code, instruction, locals, file, function, lines, first_line, argument_count,
      bytes;
  std::uint8_t type, bytes_size, bytes_text, str_state, str_length, str_ascii;
};
constexpr Places k3_13 = {23, 29, 30, 31, 32, 35, 37, 38, 39, 40, 43, 45, 65, 66, 68, 69, 70};
constexpr Places k3_14 = {26, 32, 33, 34, 35, 40, 42, 43, 44, 45, 48, 51, 75, 76, 78, 79, 80};
constexpr char kCookie[] = "xdebugpy";
constexpr std::uint64_t kLargestOffset = 4096;

template <class T>
T symbol(const char* name) {
  return reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

std::int64_t basic_size(Pointer type) {
  constexpr std::size_t kBasicSize = 32;
  std::int64_t size;
  std::memcpy(&size, type + kBasicSize, sizeof size);
  return size;
}

std::optional<Layout> from_table(const Places& places, std::uint64_t version) {
  const auto table = symbol<const std::uint64_t*>("_PyRuntime");
  if (table == nullptr || std::memcmp(table, kCookie, 8) != 0 || table[1] != version || table[2] != 0) return {};
  if (table[places.type] != kType || table[places.bytes_size] != kSize || table[places.bytes_text] != kBytesText ||
      table[places.str_state] != kStrState || table[places.str_length] != kSize) {
    return {};
  }
  bool is_sane = true;
  const auto at = [&](std::uint8_t place) {
    is_sane = is_sane && table[place] < kLargestOffset;
    return static_cast<std::uint16_t>(table[place]);
  };
  Layout layout{};
  layout.state_frame = at(places.state_frame);
  layout.previous = at(places.previous);
  layout.code = at(places.code);
  layout.instruction = at(places.instruction);
  layout.file = at(places.file);
  layout.function = at(places.function);
  layout.first_line = at(places.first_line);
  layout.lines = at(places.lines);
  layout.bytes = at(places.bytes);
  layout.argument_count = at(places.argument_count);
  layout.locals = at(places.locals);
  layout.ascii = at(places.str_ascii);
  layout.wide = static_cast<std::uint16_t>(layout.ascii + 16);  // behind utf8_length and utf8
  if (!is_sane) return {};
  return layout;
}

}  // namespace

std::uint64_t version_in(const char* text) {
  std::string_view rest = text;
  unsigned major = 0, minor = 0, micro = 0;
  if (!take_number(rest, major) || !take_character(rest, '.') || !take_number(rest, minor) ||
      !take_character(rest, '.') || !take_number(rest, micro) || !(rest.starts_with(' ') || rest.starts_with('+'))) {
    return 0;
  }
  return major << 24 | minor << 16 | micro << 8 | 0xf0;
}

bool find_interpreter(Interpreter& found, std::string& why_not) {
  const auto version_text = symbol<const char* (*)()>("Py_GetVersion");
  found.thread_state = symbol<Pointer (*)()>("PyGILState_GetThisThreadState");
  found.is_initialized = symbol<int (*)()>("Py_IsInitialized");
  found.code_type = symbol<Pointer>("PyCode_Type");
  found.str_type = symbol<Pointer>("PyUnicode_Type");
  found.bytes_type = symbol<Pointer>("PyBytes_Type");
  found.tuple_type = symbol<Pointer>("PyTuple_Type");
  found.cell_type = symbol<Pointer>("PyCell_Type");
  const auto frame_type = symbol<Pointer>("PyFrame_Type");
  if (version_text == nullptr || found.thread_state == nullptr || found.is_initialized == nullptr ||
      found.code_type == nullptr || found.str_type == nullptr || found.bytes_type == nullptr ||
      found.tuple_type == nullptr || found.cell_type == nullptr || frame_type == nullptr) {
    why_not = "there is no Python interpreter in this process";
    return false;
  }
  const char* const text = version_text();
  const auto* const declared = symbol<const unsigned long*>("Py_Version");  // since 3.11
  const std::uint64_t version = declared != nullptr ? *declared : version_in(text);
  const std::string named = "Python " + std::string(text, std::strcspn(text, " "));
  const bool is_final = (version & 0xf0) == 0xf0;
  std::optional<Layout> layout;
  Sizes sizes{};
  switch (is_final ? version >> 16 : 0) {
    case 0x030a:
      layout = k3_10;
      sizes = {176, 360, 80, 33};
      break;
    case 0x030b:
      layout = k3_11;
      sizes = {184, 120, 80, 33};
      break;
    case 0x030c:
      layout = k3_12;
      sizes = {192, 120, 64, 33};
      break;
    case 0x030d:
      layout = from_table(k3_13, version);
      sizes = {200, 136, 64, 33};
      break;
    case 0x030e:
      layout = from_table(k3_14, version);
      sizes = {208, 152, 64, 33};
      break;
    default:
      why_not = named + " is not supported (supported: 3.10 to 3.14, final releases)";
      return false;
  }
  const bool as_known = basic_size(found.code_type) == sizes.code && basic_size(frame_type) == sizes.frame &&
                        basic_size(found.str_type) == sizes.str && basic_size(found.bytes_type) == sizes.bytes;
  if (!layout || !as_known) {
    why_not = named + " is a build with an unknown object layout; use a release build with the GIL";
    return false;
  }
  found.layout = *layout;
  return true;
}

}  // namespace profshim::recorder::python
