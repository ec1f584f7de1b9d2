#include "spool_header.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "profshim/base/command_line.h"
#include "profshim/base/process_identity.h"
#include "profshim/base/safe_files.h"
#include "profshim/json.h"
#include "profshim/json/writer.h"
#include "trace/schema.h"

namespace profshim::session {

void add_spec_metadata(const State& s) {
  recorder::add_metadata(schema::ours::kSpecHash, json_string(s.spec.hash()));
  recorder::add_metadata(schema::ours::kRunId, json_string(s.run_id));
  if (s.attempt >= 0) recorder::add_metadata(schema::ours::kAttempt, std::to_string(s.attempt));
  // PyTorch's profiler, too, omits settings that are off.
  if (s.spec.profile_memory) recorder::add_metadata(schema::top::kProfileMemory, "1");
  namespace recorded = schema::ours::recorded;
  const auto& a = s.spec.activities;
  JsonWriter json;
  json.open_object().key(recorded::kActivities).open_list();
  for (const auto& [name, on] : {std::pair{"cpu", a.cpu}, std::pair{"cuda", a.cuda}, std::pair{"nccl", a.nccl},
                                 std::pair{"mpi", a.mpi}, std::pair{"nvtx", a.nvtx}}) {
    if (on) json.value(name);
  }
  json.close_list().member(recorded::kRole, s.spec.process.role);
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

void fill_header(State& s) {
  spool::SpoolHeader& h = recorder::header();
  h.rank = s.rank.rank;
  h.world_size = s.rank.world_size;
  h.local_rank = s.rank.local_rank;
  h.local_world_size = s.rank.local_world_size;
  h.node_rank = s.rank.node_rank;
  h.host = recorder::intern(s.rank.host);
  h.program = recorder::intern(program_name());
  h.command = recorder::intern(shown_command_line(process_arguments(), s.spec.output.arguments));
  h.rank_source = recorder::intern(s.rank.source);
  h.spec = recorder::intern(without_secrets(s.spec).to_toml(), spool::kMaxText);
  h.run_name = recorder::intern(s.run_name);
  h.folder = recorder::intern(s.folder);
  h.job_key = recorder::intern(s.job.readable);
  h.process = recorder::intern(to_text(own_identity()));
  h.step_source = recorder::intern(source_text(s));
  const auto& wanted = s.spec.activities;
  for (const auto& [layer, is_wanted] : {std::pair{Layer::kMpi, wanted.mpi}, std::pair{Layer::kNccl, wanted.nccl},
                                         std::pair{Layer::kNvtx, wanted.nvtx}, std::pair{Layer::kTorch, wanted.cpu}}) {
    if (!is_wanted) h.unwanted_layers |= 1u << static_cast<unsigned>(layer);
  }
  s.limit_time = recorder::intern("limits.window_seconds");
  s.limit_size = recorder::intern("limits.trace_size");
  s.limit_device = recorder::intern("CUPTI ran out of buffers");
  s.limit_marks = recorder::intern("too many steps in one window");
}

void fill_manifest(State& s) {
  s.manifest.rank = s.rank;
  s.manifest.pid = getpid();
  s.manifest.run_name = s.run_name;
  s.manifest.run_id = s.run_id;
  s.manifest.role = s.spec.process.role;
  s.manifest.spec_hash = s.spec.hash();
  s.manifest.step_source = source_text(s);
  s.manifest.spool = recorder::path();
  output::Manifest earlier;
  const Descriptor folder = open_folder(s.folder);
  const std::string name = "manifest-rank" + std::to_string(s.rank.rank) + ".json";
  if (!output::read_manifest(name, earlier, folder.get()) || earlier.run_id != s.run_id) return;
  s.manifest.windows = std::move(earlier.windows);
  for (output::ManifestWindow& window : s.manifest.windows) window.is_earlier = true;
  s.manifest.removed_traces = earlier.removed_traces;
}

std::string source_text(const State& s) {
  const std::string text = s.rule.load()->text();
  return s.spec.steps.source == StepSource::kTime ? text + " " + std::to_string(s.spec.steps.every_ms) + " ms" : text;
}

}  // namespace profshim::session
