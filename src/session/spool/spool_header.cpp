#include "spool_header.h"

#include <string>
#include <utility>

#include "profshim/base/command_line.h"
#include "profshim/base/process_identity.h"
#include "profshim/json.h"
#include "profshim/json/writer.h"
#include "profshim/recorder_control.h"
#include "profshim/trace/schema.h"

namespace profshim::session {

void add_spec_metadata(const Plan& plan) {
  recorder::add_metadata(schema::ours::kSpecHash, json_string(plan.spec.hash()));
  recorder::add_metadata(schema::ours::kRunId, json_string(plan.run_id));
  if (plan.attempt >= 0) recorder::add_metadata(schema::ours::kAttempt, std::to_string(plan.attempt));
  // PyTorch's profiler, too, omits settings that are off.
  if (plan.spec.profile_memory) recorder::add_metadata(schema::top::kProfileMemory, "1");
  namespace recorded = schema::ours::recorded;
  const auto& a = plan.spec.activities;
  JsonWriter json;
  json.open_object().key(recorded::kActivities).open_list();
  for (const auto& [name, on] : {std::pair{"cpu", a.cpu}, std::pair{"cuda", a.cuda}, std::pair{"nccl", a.nccl},
                                 std::pair{"mpi", a.mpi}, std::pair{"nvtx", a.nvtx}}) {
    if (on) json.value(name);
  }
  json.close_list().member(recorded::kRole, plan.spec.process.role);
  recorder::add_metadata(recorded::kKey, json.close_object().text());
}

namespace {

Spec without_secrets(Spec spec) {
  for (auto* const patterns : {&spec.process.match, &spec.process.exclude}) {
    for (std::string& pattern : *patterns) pattern = shown_command_line({pattern}, true);
  }
  if (!spec.finish.command.empty()) spec.finish.command = "***";
  return spec;
}

}  // namespace

void fill_header(const Plan& plan, const std::string& step_source) {
  spool::SpoolHeader& h = recorder::header();
  h.rank = plan.rank.rank;
  h.world_size = plan.rank.world_size;
  h.local_rank = plan.rank.local_rank;
  h.local_world_size = plan.rank.local_world_size;
  h.node_rank = plan.rank.node_rank;
  h.host = recorder::intern(plan.rank.host);
  h.program = recorder::intern(program_name());
  h.command = recorder::intern(shown_command_line(process_arguments(), plan.spec.output.arguments));
  h.rank_source = recorder::intern(plan.rank.source);
  h.spec = recorder::intern(without_secrets(plan.spec).to_toml(), spool::kMaxText);
  h.run_name = recorder::intern(plan.run_name);
  h.folder = recorder::intern(plan.folder);
  h.job_key = recorder::intern(plan.job.readable);
  h.process = recorder::intern(to_text(own_identity()));
  h.step_source = recorder::intern(step_source);
  const auto& wanted = plan.spec.activities;
  for (const auto& [layer, is_wanted] : {std::pair{Layer::kMpi, wanted.mpi}, std::pair{Layer::kNccl, wanted.nccl},
                                         std::pair{Layer::kNvtx, wanted.nvtx}, std::pair{Layer::kTorch, wanted.cpu}}) {
    if (!is_wanted) h.unwanted_layers |= 1u << static_cast<unsigned>(layer);
  }
}

}  // namespace profshim::session
