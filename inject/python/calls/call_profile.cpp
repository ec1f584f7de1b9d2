#include "calls.h"
#include "marks.h"
#include "profshim/recorder.h"

namespace profshim::python::calls {
namespace {

/// PyTrace_...
enum Event : int { kCall = 0, kReturn = 3, kBuiltInCall = 4, kBuiltInException = 5, kBuiltInReturn = 6 };

/// Of PyThreadState::c_profilefunc. Source: Include/cpython/pystate.h.
std::size_t function_offset() { return api().version == 0x030a ? 56 : 64; }

ProfileFunction function_of(const ThreadState* state) {
  ProfileFunction function = nullptr;
  std::memcpy(&function, reinterpret_cast<const char*>(state) + function_offset(), sizeof function);
  return function;
}

void on_event(int event, Object* callable) {
  python_stack::Frame frames[2];
  const std::size_t count = python_stack::walk(frames, event == kCall ? 2 : 1);
  const CodeFunction* const function = count > 0 ? of_code(code_of(frames[0])) : nullptr;
  if (function == nullptr || function->is_left_out) return;
  if (!ready(event == kCall ? Innermost::kBegins : Innermost::kGoesOn)) return;
  switch (event) {
    case kCall:
      return begin(site_of(*function, frames[0], count > 1 ? &frames[1] : nullptr));
    case kReturn:
      return end(function->number);
    case kBuiltInCall:
      if (const BuiltIn built_in = built_in_of(callable, nullptr); built_in.method != nullptr)
        begin(site_of(built_in, frames[0]));
      return;
    case kBuiltInReturn:
    case kBuiltInException:
      if (const BuiltIn built_in = built_in_of(callable, nullptr); built_in.method != nullptr) end(number_of(built_in));
      return;
    default:
      return;
  }
}

int profile(Object*, Object*, int event, Object* argument) {
  if (recorder::mode() == 0) {
    api().set_profile(api().own_state(), nullptr, nullptr);  // a forked child
  } else if (recorder::mode_has(recorder::kArmed)) {
    on_event(event, argument);
  }
  return 0;
}

}  // namespace

const char* prepare_profile() {
  if (api().set_profile == nullptr || api().first_state == nullptr || api().next_state == nullptr ||
      api().main_interpreter == nullptr) {
    return "this Python does not export the functions that set a profile function";
  }
  ThreadState* const state = api().own_state();
  if (function_of(state) != nullptr) return nullptr;
  api().set_profile(state, profile, nullptr);
  const bool is_there = function_of(state) == profile;
  api().set_profile(state, nullptr, nullptr);
  return is_there ? nullptr : "this Python has an unknown layout of threads";
}

void switch_profile(bool on) {
  bool others_have_one = false;
  for (ThreadState* state = api().first_state(api().main_interpreter()); state != nullptr;
       state = api().next_state(state)) {
    const ProfileFunction present = function_of(state);
    if (on && present == nullptr) {
      api().set_profile(state, profile, nullptr);
    } else if (!on && present == profile) {
      api().set_profile(state, nullptr, nullptr);
    } else if (on && present != profile) {
      others_have_one = true;
    }
  }
  if (others_have_one) {
    recorder::missing("python",
                      "the calls of some threads are not recorded: they have a profile function of their own "
                      "(sys.setprofile, torch.profiler with_stack); Python 3.12 and later allow both");
  }
}

}  // namespace profshim::python::calls
