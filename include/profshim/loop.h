// Finds the loop of a job in the calls of one thread. Pure computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profshim/base/clock.h"

namespace profshim::spool {
class View;
}

namespace profshim::loop {

enum class CallKind : std::uint8_t {
  kOptimizer,
  kForward,
  kTorchRange,  // other ranges of PyTorch
  kNvtxRange,
  kCollective,
  kMessage,
  kLaunch,
  kOperator,  // of PyTorch
  kOther,
};
/// True for the first four.
constexpr bool is_range(CallKind kind) { return kind <= CallKind::kNvtxRange; }

struct Symbol {
  CallKind kind{};
  std::string name;
  std::int64_t peer = -1;  // of a message: tells exchanges with several neighbors apart
  std::size_t nested = 0;  // calls inside other calls, which are left out
};

struct Call {
  std::uint32_t symbol = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// The calls of one thread, sorted by begin_ns: all ranges, and of the other calls those that lie in no other call.
struct Sequence {
  std::vector<Symbol> symbols;
  std::vector<Call> calls;
};

class SequenceBuilder {
 public:
  /// Call in the order of `end_ns`. `peer`: of a message, else -1.
  void add(CallKind kind, std::string_view name, std::int64_t peer, std::int64_t begin_ns, std::int64_t end_ns);
  Sequence finish();

 private:
  std::uint32_t symbol_of(CallKind kind, std::string_view name, std::int64_t peer);

  Sequence sequence_;
  std::map<std::pair<CallKind, std::int64_t>, std::map<std::string, std::uint32_t, std::less<>>> ids_;
};

/// `name`: of a range of PyTorch.
CallKind kind_of_torch_range(std::string_view name);

/// True for functions such as MPI_Test, whose number of calls depends on the time.
bool is_poll(std::string_view function);

/// A point of the loop: each `every`-th call of the name of `symbol`, with any peer, counted from its first call.
struct Boundary {
  std::uint32_t symbol = 0;
  std::optional<std::uint32_t> previous;  // counts only calls that follow a call of this symbol
  std::uint32_t every = 1;
  bool at_end = false;
};

/// One of the nested loops.
struct Level {
  Boundary boundary;
  std::vector<Boundary> others;  // other points of the same loop, best first
  std::size_t cycles = 0;        // whole cycles seen
  std::size_t deviations = 0;    // cycles with other calls than usual
  double period_ns = 0;          // median
  std::size_t calls = 0;         // in a usual cycle
};

enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };

struct Finding {
  std::vector<Level> levels;          // shortest period first
  std::optional<std::size_t> chosen;  // index of the level that makes the steps
  Confidence confidence{};
  bool may_be_part = false;  // a longer loop may begin to show
  // The calls before the first cycle of the chosen level: their time, relative to the time of its cycles, and the part
  // of a usual cycle that they contain.
  double time_before = 0, common_before = 0;
};

Finding find_loop(const Sequence& sequence);

/// Returns "high", "medium" or "low".
const char* text_of(Confidence confidence);
/// Returns the value of steps.source for steps that begin or end at such calls; "" = none.
std::string_view source_of(const Symbol& symbol);
/// Returns the value of steps.pattern for these calls.
std::string pattern_of(const Symbol& symbol);

/// True if later calls will hardly change the finding. `elapsed_ns`: since the first call. `waited_ns`: of these, how
/// long the thread waited for a CPU.
bool is_settled(const Sequence& sequence, const Finding& finding, std::int64_t elapsed_ns, std::int64_t waited_ns);

/// The calls of the thread that most likely makes the steps.
struct RecordedCalls {
  Sequence sequence;
  std::int32_t tid = 0;
  std::int64_t elapsed_ns = 0;  // since the first call
};

/// Reads events that began at `since` or later. The caller keeps their chunks from being freed.
RecordedCalls read_calls(const spool::View& view, Ticks since, bool only_torch);

}  // namespace profshim::loop
