#include "python_frames.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>

#include "profshim/recorder.h"
#include "python_lines.h"
#include "python_walk.h"

namespace profshim::recorder::python_frames {
namespace {

using python::Characters;
using python::characters_of;
using python::Frame;
using python::interpreter;
using python::load;
using python::Pointer;
using python::pointer_at;

constexpr std::size_t kMostWalked = 1024;

constinit std::atomic<bool> is_ready{false};

std::span<const std::uint8_t> bytes_of(Pointer object) {
  if (object == nullptr || pointer_at(object, python::kType) != interpreter.bytes_type) return {};
  return {reinterpret_cast<const std::uint8_t*>(object + python::kBytesText), load<std::size_t>(object, python::kSize)};
}

class Line {
 public:
  void add(std::string_view text) {
    const std::size_t n = std::min(text.size(), sizeof text_ - used_);
    std::memcpy(text_ + used_, text.data(), n);
    used_ += n;
  }
  void add(int value) {
    char digits[12];
    add({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
  }
  /// Keeps the end of a long text.
  void add(const Characters& characters, std::size_t most) {
    if (characters.width == 0) return add("?");
    const std::size_t count = characters.bytes / characters.width;
    if (count > most) add("...");
    for (std::size_t i = count > most ? count - most : 0; i < count; ++i) add_character(characters, i);
  }
  std::string_view text() const { return {text_, used_}; }

 private:
  void add_character(const Characters& characters, std::size_t i) {
    std::uint32_t c = 0;
    std::memcpy(&c, characters.at + i * characters.width, characters.width);
    char utf8[4];
    std::size_t n = 0;
    if (c < 0x80) {
      utf8[n++] = static_cast<char>(c);
    } else if (c < 0x800) {
      utf8[n++] = static_cast<char>(0xc0 | c >> 6);
    } else if (c < 0x10000) {
      utf8[n++] = static_cast<char>(0xe0 | c >> 12);
      utf8[n++] = static_cast<char>(0x80 | (c >> 6 & 63));
    } else {
      utf8[n++] = static_cast<char>(0xf0 | c >> 18);
      utf8[n++] = static_cast<char>(0x80 | (c >> 12 & 63));
      utf8[n++] = static_cast<char>(0x80 | (c >> 6 & 63));
    }
    if (c >= 0x80) utf8[n++] = static_cast<char>(0x80 | (c & 63));
    add({utf8, n});
  }
  char text_[2048];
  std::size_t used_ = 0;
};

/// For a text below 8 bytes, also reads object fields before the text.
std::uint64_t last_word(Pointer text, std::size_t bytes) { return load<std::uint64_t>(text + bytes - 8, 0) + bytes; }

// A later code object at the same address often has the same name and file, but another checksum.
std::uint64_t check_of(Pointer code) {
  const python::Layout& at = interpreter.layout;
  const auto number = [](Pointer pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  const Pointer file = pointer_at(code, at.file), function = pointer_at(code, at.function);
  const Pointer lines = pointer_at(code, at.lines);
  const Characters file_text = characters_of(file), function_text = characters_of(function);
  const auto table = bytes_of(lines);
  std::uint64_t check = load<std::uint32_t>(code, at.first_line) * 0x9e3779b97f4a7c15;
  check += number(file) * 0xd1342543de82ef95;
  check += number(function) * 0xaf251af3b0f025b5;
  check += number(lines) * 0xbf58476d1ce4e5b9;
  if (file_text.width != 0) check += last_word(file_text.at, file_text.bytes) * 0x94d049bb133111eb;
  if (function_text.width != 0) check += last_word(function_text.at, function_text.bytes) * 0xff51afd7ed558ccd;
  if (!table.empty()) {
    check += last_word(reinterpret_cast<Pointer>(table.data()), table.size()) * 0xc4ceb9fe1a85ec53;
  }
  return check;
}

/// Cache of frame texts. A slot is a sequence lock: `version` is odd during a write.
struct alignas(32) Slot {
  std::atomic<std::uint32_t> version;
  std::atomic<StringId> text;
  std::atomic<Pointer> code;
  std::atomic<std::size_t> offset;
  std::atomic<std::uint64_t> check;
};
constexpr std::size_t kSlots = 1 << 14;
constinit Slot* slots = nullptr;

Slot& slot_of(const Frame& frame) {
  const std::uint64_t key = (reinterpret_cast<std::uintptr_t>(frame.code) >> 4) + frame.offset * 0x9e3779b1;
  return slots[(key * 0x9e3779b97f4a7c15) >> 50];
}
static_assert(kSlots == std::size_t{1} << (64 - 50));

StringId known_text(const Slot& slot, const Frame& frame, std::uint64_t check) {
  const std::uint32_t version = slot.version.load(std::memory_order_acquire);
  const bool same = slot.code.load(std::memory_order_relaxed) == frame.code &&
                    slot.offset.load(std::memory_order_relaxed) == frame.offset &&
                    slot.check.load(std::memory_order_relaxed) == check;
  const StringId text = slot.text.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);  // orders the loads before the second load of `version`
  return same && version % 2 == 0 && slot.version.load(std::memory_order_relaxed) == version ? text : 0;
}

void remember(Slot& slot, const Frame& frame, std::uint64_t check, StringId text) {
  std::uint32_t version = slot.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 || !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_relaxed))
    return;
  std::atomic_thread_fence(std::memory_order_release);  // orders the odd version before the stores
  slot.text.store(text, std::memory_order_relaxed);
  slot.code.store(frame.code, std::memory_order_relaxed);
  slot.offset.store(frame.offset, std::memory_order_relaxed);
  slot.check.store(check, std::memory_order_relaxed);
  slot.version.store(version + 2, std::memory_order_release);
}

int line_of(const Frame& frame) {
  const python::Layout& at = interpreter.layout;
  const auto table = bytes_of(pointer_at(frame.code, at.lines));
  const int first_line = load<int>(frame.code, at.first_line);
  return at.is_3_10 ? python_lines::by_differences(table, first_line, frame.offset)
                    : python_lines::by_locations(table, first_line, frame.offset);
}

[[gnu::noinline]] StringId make_text(const Frame& frame) {
  constexpr std::size_t kLongestFile = 300, kLongestName = 150;  // characters of up to 4 bytes
  Line line;
  line.add(characters_of(pointer_at(frame.code, interpreter.layout.file)), kLongestFile);
  line.add("(");
  line.add(line_of(frame));
  line.add("): ");
  line.add(characters_of(pointer_at(frame.code, interpreter.layout.function)), kLongestName);
  return intern(line.text());
}

StringId text_of(const Frame& frame) {
  const std::uint64_t check = check_of(frame.code);
  Slot& slot = slot_of(frame);
  if (const StringId known = known_text(slot, frame, check); __builtin_expect(known != 0, 1)) return known;
  const StringId text = make_text(frame);
  if (text != 0) remember(slot, frame, check, text);
  return text;
}

/// True for "forward" and "Linear.forward".
bool is_forward(Pointer code) {
  constexpr std::string_view kForward = "forward";
  const Characters name = characters_of(pointer_at(code, interpreter.layout.function));
  if (name.width != 1 || name.bytes < kForward.size()) return false;
  const std::string_view text(name.at, name.bytes);
  return text.ends_with(kForward) && (text.size() == kForward.size() || text[text.size() - kForward.size() - 1] == '.');
}

/// True if torch.nn.Module is among the bases of the type.
bool is_module_type(Pointer type) {
  constexpr std::size_t kMostBases = 64;
  const Pointer bases = pointer_at(type, python::kTypeBases);
  if (bases == nullptr || pointer_at(bases, python::kType) != interpreter.tuple_type) return false;
  const std::size_t count = std::min(load<std::size_t>(bases, python::kSize), kMostBases);
  for (std::size_t i = 0; i < count; ++i) {
    if (python::name_of_type(pointer_at(bases, python::kTupleItems + i * sizeof(Pointer))) == "Module") return true;
  }
  return false;
}

/// Returns the class of the nn.Module whose forward() the frame runs; 0 = of none.
StringId module_of(Pointer frame, Pointer code) {
  if (!is_forward(code)) return 0;
  const Pointer self = python::first_argument(frame, code);
  const Pointer type = self == nullptr ? nullptr : pointer_at(self, python::kType);
  return type != nullptr && is_module_type(type) ? intern(python::name_of_type(type)) : 0;
}

}  // namespace

bool prepare(std::string& why_not) {
  is_ready.store(false, std::memory_order_relaxed);
  if (!python::prepare_walk(why_not)) return false;
  if (slots == nullptr) {
    void* const memory = mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      why_not = "no host memory is left for them";
      return false;
    }
    slots = static_cast<Slot*>(memory);
  } else {
    madvise(slots, kSlots * sizeof(Slot), MADV_DONTNEED);
  }
  is_ready.store(true, std::memory_order_release);
  return true;
}

Taken take(StringId* frames, std::size_t most_frames, StringId* modules, std::size_t most_modules) {
  // Finalization of Python frees states and frames of running threads.
  if (!is_ready.load(std::memory_order_acquire) || interpreter.is_initialized() == 0) return {};
  Taken taken;
  std::size_t walked = 0;
  for (Pointer frame = python::innermost_frame(); frame != nullptr && walked < kMostWalked;
       frame = python::caller_of(frame)) {
    if (taken.frames == most_frames && taken.modules == most_modules) break;
    const Pointer code = python::code_of(frame);
    if (code == nullptr) continue;
    ++walked;
    if (taken.frames < most_frames) {
      const StringId text = text_of(python::frame_at(frame, code));
      if (text == 0) break;
      frames[taken.frames++] = text;
    }
    if (taken.modules < most_modules) {
      if (const StringId module = module_of(frame, code); module != 0) modules[taken.modules++] = module;
    }
  }
  return taken;
}

}  // namespace profshim::recorder::python_frames
