#include "profshim/call_stack.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "native_frames.h"
#include "profshim/recorder.h"
#include "profshim/trace/schema.h"
#include "python_frames.h"

namespace profshim::call_stack {
namespace {

// prepare() sets these before mode bit kStacks lets threads read them.
constinit bool can_take_python = false, can_take_native = false;
// In force.
constinit std::atomic<bool> takes_python{false}, takes_native{false}, takes_modules{false};
constinit std::atomic<std::size_t> depth{0};
constinit std::atomic<std::uint32_t> every{1};

bool is_collective(std::string_view name) {
  return name.starts_with(schema::name::kC10dStart) || name.starts_with("nccl:") ||
         name.starts_with(schema::name::kGlooStart) || name == schema::name::kCommunication;
}

}  // namespace

void leave_parent() { recorder::native_frames::leave_parent(); }

bool prepare(const Detail& detail) {
  std::string why_not;
  can_take_python = detail.with_stack && recorder::python_frames::prepare(why_not);
  if (detail.with_stack && !can_take_python) recorder::missing("stacks", "Python stacks are not recorded: " + why_not);
  can_take_native = detail.native_stack && recorder::native_frames::prepare(why_not);
  if (detail.native_stack && !can_take_native)
    recorder::missing("stacks", "native stacks are not recorded: " + why_not);
  define_modules();  // not only at the end: the process may be killed
  choose(detail);
  return can_take_python || can_take_native;
}

void choose(const Detail& detail) {
  takes_python = detail.with_stack && can_take_python;
  takes_native = detail.native_stack && can_take_native;
  takes_modules = detail.with_modules;
  depth = std::min<std::size_t>(static_cast<std::size_t>(detail.stack_depth), kMostFrames);
  every = static_cast<std::uint32_t>(std::min<std::int64_t>(detail.stack_every, 1 << 30));
}

void define_modules() {
  if (can_take_native) recorder::native_frames::define_modules();
}

StringId capture() {
  StringId python[kMostFrames], modules[kMostModules];
  std::uint64_t native[kMostFrames];
  const std::size_t frames = depth.load(std::memory_order_relaxed);
  const bool wants_python = takes_python.load(std::memory_order_relaxed);
  const bool wants_native = takes_native.load(std::memory_order_relaxed);
  const std::size_t most_modules = takes_modules.load(std::memory_order_relaxed) ? kMostModules : 0;
  recorder::python_frames::Taken taken;
  if (wants_python) taken = recorder::python_frames::take(python, frames, modules, most_modules);
  const int saved_errno = errno;  // libunwind may read files, which sets errno
  const std::size_t natives = wants_native ? recorder::native_frames::take(native, frames) : 0;
  errno = saved_errno;
  if (taken.frames + natives == 0) return 0;
  const Header header{static_cast<std::uint16_t>(taken.frames), static_cast<std::uint16_t>(natives),
                      static_cast<std::uint16_t>(taken.modules), 0};
  char bytes[kMostBytes];
  char* end = bytes;
  const auto add = [&end](const void* from, std::size_t size) {
    std::memcpy(end, from, size);
    end += size;
  };
  add(&header, sizeof header);
  add(python, taken.frames * sizeof python[0]);
  add(modules, taken.modules * sizeof modules[0]);
  add(native, natives * sizeof native[0]);
  return recorder::intern({bytes, static_cast<std::size_t>(end - bytes)});
}

StringId capture_operator(spool::Thread& thread, const char* name) {
  const std::uint32_t nth = every.load(std::memory_order_relaxed);
  const bool its_turn = nth != 0 && thread.operators++ % nth == 0;
  return its_turn || is_collective(name) ? capture() : 0;
}

}  // namespace profshim::call_stack
