#include "uses.h"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "profshim/base/files.h"
#include "profshim/session.h"
#include "selection.h"

namespace profshim::session {
namespace {

constexpr unsigned bit(Use use) { return static_cast<unsigned>(use); }
constexpr unsigned kLibraries = bit(Use::kCuda) | bit(Use::kNccl) | bit(Use::kMpi) | bit(Use::kTorch);

constinit std::atomic<unsigned> seen{0};
constinit std::atomic<unsigned> required{0};  // 0 = unknown

unsigned required_by(const Spec& spec) {
  const auto& any = spec.process.require_any;
  return (any.cuda ? bit(Use::kCuda) : 0) | (any.nccl ? bit(Use::kNccl) : 0) | (any.mpi ? bit(Use::kMpi) : 0) |
         (any.torch ? bit(Use::kTorch) : 0) | (any.start ? bit(Use::kStart) : 0);
}

/// Without a valid spec, any use will do: activate() then reports the errors.
unsigned read_required() {
  if (!requested()) return kLibraries;
  try {
    const LoadedSpec loaded = load_own_spec();
    return loaded.ok() ? required_by(loaded.spec) : kLibraries;
  } catch (...) {
    return kLibraries;
  }
}

}  // namespace

bool may_begin_at_start() {
  if (!requested()) return false;
  constexpr std::string_view kKey = "require_any";
  try {
    const SpecSources sources = own_sources();
    const auto names_key = [&](const auto& variable) { return variable.second.find(kKey) != std::string::npos; };
    if (std::any_of(sources.environment.begin(), sources.environment.end(), names_key)) return true;
    std::string text;
    int error = 0;
    // An included file may have the key.
    return !sources.file.empty() && read_file(sources.file, text, error) &&
           (text.find(kKey) != std::string::npos || text.find("include") != std::string::npos);
  } catch (...) {
    return false;
  }
}

bool note_use(Use use) {
  unsigned wanted = required.load(std::memory_order_relaxed);
  // Two threads may read the spec. A lock could stay locked in a forked child.
  if (wanted == 0) required.store(wanted = read_required(), std::memory_order_relaxed);
  unsigned uses = seen.load(std::memory_order_relaxed);
  if ((uses & bit(use)) == 0) uses = seen.fetch_or(bit(use), std::memory_order_relaxed) | bit(use);
  return (uses & wanted) != 0;
}

void forget_uses() { seen = 0; }

std::string uses_in_vain(const Spec& spec) {
  const unsigned uses = seen.load(std::memory_order_relaxed);
  if ((uses & required_by(spec)) != 0) return {};
  std::string text;
  for (const auto& [use, name] : {std::pair{Use::kCuda, "CUDA"}, std::pair{Use::kNccl, "NCCL"},
                                  std::pair{Use::kMpi, "MPI"}, std::pair{Use::kTorch, "PyTorch"}}) {
    if ((uses & bit(use)) != 0) text.append(text.empty() ? "" : " and ").append(name);
  }
  return text;
}

}  // namespace profshim::session
