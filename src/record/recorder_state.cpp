#include "recorder_state.h"

#include "profshim/recorder_control.h"
#include "spool_memory.h"

namespace profshim::recorder {

constinit State state;

namespace detail {
constinit std::atomic<Ticks> last_boundary{0};
constinit std::atomic<std::uint64_t> windows_opened{0};
thread_local constinit spool::Thread* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace detail

bool exists() { return state.header != nullptr; }
spool::SpoolHeader& header() { return *state.header; }
const char* data() { return spool_memory::data(); }
std::size_t size() { return spool_memory::size(); }
const std::string& path() { return spool_memory::path(); }

void set_mode(std::uint32_t set, std::uint32_t clear) {
  std::uint32_t now = process_words.mode.load(std::memory_order_relaxed);
  while (!process_words.mode.compare_exchange_weak(now, (now & ~clear) | set, std::memory_order_release)) {
  }
}

void forget_tables() {
  const bool has_key = state.has_key;
  const pthread_key_t key = state.thread_end;
  state = State{};
  state.has_key = has_key;
  state.thread_end = key;
}

void abandon_in_child() { detail::this_thread = nullptr; }

}  // namespace profshim::recorder
