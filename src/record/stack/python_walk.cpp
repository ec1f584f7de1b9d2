#include "python_walk.h"

#include <mutex>

namespace profshim::recorder::python {

constinit Interpreter interpreter{};

bool prepare_walk(std::string& why_not) {
  static constinit std::mutex mutex;
  static constinit bool is_found = false;
  const std::lock_guard lock(mutex);
  if (is_found) return true;
  Interpreter found{};
  if (!find_interpreter(found, why_not)) return false;
  interpreter = found;
  is_found = true;
  return true;
}

Pointer first_argument(Pointer frame, Pointer code) {
  constexpr std::uintptr_t kTagOfNumber = 3;  // 3.14: the word is a small number
  const Layout& at = interpreter.layout;
  if (load<int>(code, at.argument_count) < 1) return nullptr;
  const auto word = load<std::uintptr_t>(frame, at.locals);
  if ((word & kTagOfNumber) == kTagOfNumber) return nullptr;
  const auto object = reinterpret_cast<Pointer>(word & ~kTags);
  // An argument that an inner function uses is in a cell.
  const bool is_cell = object != nullptr && pointer_at(object, kType) == interpreter.cell_type;
  return is_cell ? pointer_at(object, kCellContent) : object;
}

Characters characters_of(Pointer text) {
  if (text == nullptr || pointer_at(text, kType) != interpreter.str_type) return {};
  // Bit fields of PyASCIIObject::state: interned:2, kind:3, compact:1, ascii:1
  const auto state = load<std::uint32_t>(text, kStrState);
  const unsigned width = state >> 2 & 7;
  if ((state & 0x20) == 0 || (width != 1 && width != 2 && width != 4)) return {};
  const bool is_ascii = (state & 0x40) != 0;
  return {text + (is_ascii ? interpreter.layout.ascii : interpreter.layout.wide),
          load<std::size_t>(text, kSize) * width, width};
}

std::string_view name_of_type(Pointer type) {
  constexpr std::size_t kLongest = 200;
  const Pointer name = pointer_at(type, kTypeName);
  return name == nullptr ? std::string_view{} : std::string_view(name, strnlen(name, kLongest));
}

}  // namespace profshim::recorder::python
