#include "profshim/call_stack.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "native_frames.h"
#include "profshim/recorder.h"
#include "python_frames.h"
#include "trace/schema.h"

namespace profshim::call_stack {
namespace {

// prepare() sets these before mode bit kStacks lets threads read them.
constinit bool takes_python = false, takes_native = false;
constinit std::size_t depth = 0;
constinit std::uint32_t every = 1;

bool is_collective(std::string_view name) {
  return name.starts_with(schema::name::kC10dStart) || name.starts_with("nccl:") ||
         name.starts_with(schema::name::kGlooStart) || name == schema::name::kCommunication;
}

}  // namespace

bool prepare(const Spec& spec) {
  std::string why_not;
  takes_python = spec.with_stack && recorder::python_frames::prepare(why_not);
  if (spec.with_stack && !takes_python) recorder::problem("stacks", "Python stacks are not recorded: " + why_not);
  takes_native = spec.native_stack && recorder::native_frames::prepare(why_not);
  if (spec.native_stack && !takes_native) recorder::problem("stacks", "native stacks are not recorded: " + why_not);
  define_modules();  // not only at the end: the process may be killed
  depth = std::min<std::size_t>(static_cast<std::size_t>(spec.stack_depth), kMostFrames);
  every = static_cast<std::uint32_t>(std::min<std::int64_t>(spec.stack_every, 1 << 30));
  return takes_python || takes_native;
}

void define_modules() {
  if (takes_native) recorder::native_frames::define_modules();
}

StringId capture() {
  StringId python[kMostFrames];
  std::uint64_t native[kMostFrames];
  const std::size_t pythons = takes_python ? recorder::python_frames::take(python, depth) : 0;
  const int saved_errno = errno;  // libunwind may read files, which sets errno
  const std::size_t natives = takes_native ? recorder::native_frames::take(native, depth) : 0;
  errno = saved_errno;
  if (pythons + natives == 0) return 0;
  const Header header{static_cast<std::uint16_t>(pythons), static_cast<std::uint16_t>(natives)};
  char bytes[kMostBytes];
  char* end = bytes;
  const auto add = [&end](const void* from, std::size_t size) {
    std::memcpy(end, from, size);
    end += size;
  };
  add(&header, sizeof header);
  add(python, pythons * sizeof python[0]);
  add(native, natives * sizeof native[0]);
  return recorder::intern({bytes, static_cast<std::size_t>(end - bytes)});
}

StringId capture_operator(spool::Thread& thread, const char* name) {
  const bool its_turn = every != 0 && thread.operators++ % every == 0;
  return its_turn || is_collective(name) ? capture() : 0;
}

}  // namespace profshim::call_stack
