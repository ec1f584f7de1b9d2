#include "retired_keys.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace profshim::spec {
namespace {

bool is_false(const Value& value, Refusal& refusal, const char* why, const char* instead) {
  bool wanted = false;
  if (!read_boolean(value, wanted, refusal) || !wanted) return refusal.message.empty();
  refusal = {why, instead, 0, 0};
  return false;
}

constexpr RetiredKey kRetired[] = {
    {"merge.at_exit",
     [](const Value& value, Refusal& refusal) {
       return is_false(value, refusal, "the job is not held up to merge its traces",
                       "run profshim merge after the job, or as finish.command of rank 0");
     },
     "changes nothing: the job never merges its traces", "leave this line out; run profshim merge after the job"},
    {"output.flush_seconds",
     [](const Value& value, Refusal& refusal) {
       std::int64_t seconds = 0;
       if (!read_integer(value, seconds, refusal)) return false;
       if (seconds < 1) refusal = {std::to_string(seconds) + " is too small", "leave this line out", 0, 0};
       return seconds >= 1;
     },
     "changes nothing: events are in the spool at once, and outlive a killed process",
     "leave this line out; profshim recover writes the traces of a killed process"},
    {"process.follow_fork",
     [](const Value& value, Refusal& refusal) {
       return is_false(value, refusal,
                       "a child that is forked while its parent records cannot record: CUDA and MPI do not work in it",
                       "fork before the parent uses CUDA, MPI or PyTorch, and give the child a rank (RANK, MPI_Init); "
                       "or use spawn");
     },
     "changes nothing: a child that is forked while its parent records never records", "leave this line out"},
};

}  // namespace

const RetiredKey* find_retired(std::string_view key) {
  const auto* const found = std::find_if(std::begin(kRetired), std::end(kRetired),
                                         [&](const RetiredKey& retired) { return retired.key == key; });
  return found == std::end(kRetired) ? nullptr : found;
}

bool is_retired_table(std::string_view name) { return name == "merge"; }

}  // namespace profshim::spec
