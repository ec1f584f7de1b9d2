#include <cstring>
#include <unordered_set>

#include "functions.h"
#include "matches.h"
#include "profshim/phase_ranges.h"
#include "profshim/recorder.h"

namespace profshim::python {
namespace {

/// Offsets. Source: Include/cpython/frameobject.h (3.10); Include/internal/pycore_frame.h, Include/cpython/genobject.h
/// (3.11).
struct Layout3_10 {
  static constexpr std::size_t kCode = 32, kGlobals = 48, kGenerator = 88, kState = 108, kFirstLocal = 352;
};
struct Layout3_11 {
  static constexpr std::size_t kGlobals = 8, kCode = 32, kOwner = 69;
  static constexpr char kOwnedByGenerator = 1;
  static constexpr std::size_t kStateBeforeFrame = 5;  // gi_frame_state, in front of gi_iframe
};
constexpr signed char kSuspended = -1;  // FRAME_SUSPENDED

template <class T>
T load(const Frame* frame, std::size_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(frame) + offset, sizeof value);
  return value;
}

constinit EvalFrame next = nullptr;
constinit std::intptr_t extra_index = -1;
const Match no_match;

struct Python3_10 {
  static Object* code(const Frame* frame) { return load<Object*>(frame, Layout3_10::kCode); }
  static Object* globals(const Frame* frame) { return load<Object*>(frame, Layout3_10::kGlobals); }
  static Object* self(const Frame* frame) { return load<Object*>(frame, Layout3_10::kFirstLocal); }
  static bool is_running_generator(const Frame* frame) {
    return load<Object*>(frame, Layout3_10::kGenerator) != nullptr;
  }
  static bool is_suspended(const Frame* frame) { return load<signed char>(frame, Layout3_10::kState) == kSuspended; }
};

struct Python3_11 {
  static Object* code(const Frame* frame) { return load<Object*>(frame, Layout3_11::kCode); }
  static Object* globals(const Frame* frame) { return load<Object*>(frame, Layout3_11::kGlobals); }
  static Object* self(const Frame*) { return nullptr; }  // its code objects have qualified names
  /// False for the evaluation that only makes the generator.
  static bool is_running_generator(const Frame* frame) {
    return load<char>(frame, Layout3_11::kOwner) == Layout3_11::kOwnedByGenerator;
  }
  static bool is_suspended(const Frame* frame) {
    return *(reinterpret_cast<const signed char*>(frame) - Layout3_11::kStateBeforeFrame) == kSuspended;
  }
};

// Python ends daemon threads by pthread_exit(), which unwinds through the functions that call next(): no object with a
// destructor may live in them.

/// Frames of generators whose phase goes on. Guarded by the GIL.
std::unordered_set<const Frame*>& given_way() {
  static auto* const frames = new std::unordered_set<const Frame*>;
  return *frames;
}

/// Asks once for each code object. Returns &no_match for most.
template <class Python>
[[gnu::noinline]] const Match* ask(const Frame* frame, int throws) {
  if (throws != 0) return &no_match;  // an exception is set: ask at the next call
  const Match* match = find_match(Python::code(frame), Python::globals(frame), Python::self(frame));
  if (match == nullptr) match = &no_match;
  api().set_code_extra(Python::code(frame), extra_index, const_cast<Match*>(match));
  return match;
}

template <class Python>
[[gnu::noinline]] Object* evaluate_generator(const Match& match, ThreadState* state, Frame* frame, int throws) {
  const bool goes_on = given_way().erase(frame) != 0;
  Event* const range =
      goes_on ? phase_ranges::resume(match.phases, match.name) : phase_ranges::begin(match.phases, match.name);
  Object* const result = next(state, frame, throws);
  if (Python::is_suspended(frame)) {
    given_way().insert(frame);
    phase_ranges::suspend(range);
  } else {
    phase_ranges::end(range, match.phases);
  }
  return result;
}

template <class Python>
[[gnu::noinline]] Object* evaluate_match(const Match& match, ThreadState* state, Frame* frame, int throws) {
  if (match.gives_way) {
    if (Python::is_running_generator(frame)) return evaluate_generator<Python>(match, state, frame, throws);
    return next(state, frame, throws);
  }
  Event* const range = phase_ranges::begin(match.phases, match.name);
  Object* const result = next(state, frame, throws);
  phase_ranges::end(range, match.phases);
  return result;
}

template <class Python>
Object* evaluate(ThreadState* state, Frame* frame, int throws) {
  void* extra = nullptr;
  api().get_code_extra(Python::code(frame), extra_index, &extra);
  const auto* match = static_cast<const Match*>(extra);
  if (__builtin_expect(match == nullptr, 0)) match = ask<Python>(frame, throws);
  if (__builtin_expect(match != &no_match, 0) && recorder::mode() != 0)
    return evaluate_match<Python>(*match, state, frame, throws);
  return next(state, frame, throws);
}

}  // namespace

const char* install_eval_frame() {
  const Api& python = api();
  if (python.main_interpreter == nullptr || python.get_eval_frame == nullptr || python.set_eval_frame == nullptr ||
      python.request_code_extra == nullptr || python.get_code_extra == nullptr || python.set_code_extra == nullptr) {
    return "this Python does not export the functions of PEP 523";
  }
  extra_index = python.request_code_extra(nullptr);
  if (extra_index < 0) return "Python has no room for a mark in its code objects";
  InterpreterState* const interpreter = python.main_interpreter();
  next = python.get_eval_frame(interpreter);
  python.set_eval_frame(interpreter, python.version == 0x030a ? evaluate<Python3_10> : evaluate<Python3_11>);
  return nullptr;
}

}  // namespace profshim::python
