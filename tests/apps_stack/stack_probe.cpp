// Python calls this library without the GIL (ctypes.CDLL) or with it (ctypes.PyDLL).
#include <chrono>
#include <cstring>
#include <memory>
#include <string>

#include "profshim/call_stack.h"
#include "profshim/recorder_control.h"
#include "profshim/spool/view.h"

namespace profshim {
namespace {

void append(std::string& text, std::string_view frame, char between = '\n') {
  if (!text.empty()) text += between;
  text += frame;
}

std::string problems() {
  std::string why_not, text;
  const auto view = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
  for (const spool::Definition* const d : view->definitions()) {
    if (d->kind.load() == spool::DefinitionKind::kProblem) append(text, view->string(d->name));
  }
  return text;
}

/// A stack in the string arena: see profshim/call_stack.h.
struct Stack {
  call_stack::Header header{};
  std::string_view texts;  // StringIds of Python frames, then of modules

  std::string_view text(std::size_t i) const {
    StringId id;
    std::memcpy(&id, texts.data() + i * sizeof id, sizeof id);
    return recorder::text_of(id);
  }
};

Stack take() {
  Stack stack;
  const std::string_view bytes = recorder::text_of(call_stack::capture());
  if (bytes.empty()) return stack;
  std::memcpy(&stack.header, bytes.data(), sizeof stack.header);
  stack.texts = bytes.substr(sizeof stack.header);
  return stack;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const char* probe_start(const char* spool, int with_python, int with_native,
                                                                  int depth) {
  static thread_local std::string answer;
  if (!recorder::exists() && !recorder::create_spool(spool, {64, 4 << 20}, answer)) return answer.c_str();
  recorder::set_mode(recorder::kActive | recorder::kStacks, 0);
  Spec spec;
  spec.with_stack = with_python != 0;
  spec.native_stack = with_native != 0;
  spec.with_modules = with_python != 0;
  spec.stack_depth = depth;
  answer = call_stack::prepare(spec) ? "" : problems();
  return answer.c_str();
}

extern "C" [[gnu::visibility("default")]] const char* probe_take() {
  static thread_local std::string text;
  text.clear();
  const Stack stack = take();
  for (std::size_t i = 0; i < stack.header.python; ++i) append(text, stack.text(i));
  if (stack.header.native > 0) append(text, "native " + std::to_string(stack.header.native));
  return text.c_str();
}

extern "C" [[gnu::visibility("default")]] const char* probe_modules() {
  static thread_local std::string text;
  text.clear();
  const Stack stack = take();
  for (std::size_t i = stack.header.modules; i > 0; --i) append(text, stack.text(stack.header.python + i - 1), '.');
  return text.c_str();
}

extern "C" [[gnu::visibility("default")]] void probe_spin() {
  for (;;) call_stack::capture();
}

extern "C" [[gnu::visibility("default")]] double probe_cost() {
  using Clock = std::chrono::steady_clock;
  constexpr int kCalls = 1000;
  double best = 1e9;
  for (int round = 0; round < 200; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) call_stack::capture();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kCalls);
  }
  return best;
}

}  // namespace profshim
