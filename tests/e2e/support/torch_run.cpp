#include "torch_run.h"

#include <rapidjson/document.h>

#include <cstdlib>

#include "scratch_folder.h"
#include "seen_trace.h"

namespace profshim::e2e {
namespace {

const std::string kDebians = "/usr/bin/python3";

// The shell's process id, $$, gives each running job another port.
const std::string kOwnPort = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=$((10000 + $$ % 20000)); ";

std::string with_torchrun(const std::string& command) {
  return torch_python() + " -m torch.distributed.run --nproc-per-node 2 --master-addr $MASTER_ADDR --master-port " +
         "$MASTER_PORT " + command;
}

// torchrun of Debian's PyTorch 2.6 needs libuv, which that build lacks.
bool torchrun_works() {
  static const bool works = run(Job{.command = {torch_python(), "-c",
                                                "from torch.distributed import TCPStore; "
                                                "TCPStore('127.0.0.1', 0, 1, True, multi_tenant=True)"},
                                    .preload = false})
                                .ending() == "exit 0";
  return works;
}

std::string by_hand(int ranks, const std::string& command) {
  const std::string size = std::to_string(ranks);
  return "for r in $(seq 0 " + std::to_string(ranks - 1) + "); do RANK=$r LOCAL_RANK=$r WORLD_SIZE=" + size +
         " LOCAL_WORLD_SIZE=" + size + " " + torch_python() + " " + command +
         " & p=\"$p $!\"; done; s=0; for i in $p; do wait $i || s=1; done; exit $s";
}

}  // namespace

const std::string& torch_python() {
  static const std::string python = [] {
    const char* const wanted = std::getenv("PROFSHIM_TEST_PYTHON");
    return wanted != nullptr && *wanted != 0 ? std::string(wanted) : kDebians;
  }();
  return python;
}

int torch_major() {
  // Importing PyTorch would take seconds, in each process of the tests.
  static const int major = [] {
    const Outcome outcome = run(Job{.command = {torch_python(), "-c",
                                                "import importlib.util, os\n"
                                                "package = os.path.dirname(importlib.util.find_spec('torch').origin)\n"
                                                "names = {}\n"
                                                "exec(open(os.path.join(package, 'version.py')).read(), names)\n"
                                                "print(names['__version__'])"},
                                    .preload = false});
    return outcome.ending() == "exit 0" ? std::atoi(outcome.out.c_str()) : 0;
  }();
  return major;
}

bool torch_has_rpc() {
  // Without TensorPipe, the base class of TensorPipeRpcBackendOptions is `object`. Other errors must fail the tests.
  static const bool lacks_tensorpipe =
      run(Job{.command = {torch_python(), "-c",
                          "from torch.distributed.rpc import TensorPipeRpcBackendOptions as O; O()"},
              .preload = false})
          .err.find("object.__init__() takes exactly one argument") != std::string::npos;
  return !lacks_tensorpipe;
}

std::string torch_app(const std::string& name) { return PROFSHIM_SOURCE_DIR "/tests/apps_torch/" + name; }

Job torch_job(const ScratchFolder& scratch, Launch launch, const std::string& command, const std::string& keys) {
  const std::string script = torch_app(command);
  std::string line = "exec " + torch_python() + " " + script;
  if (launch != Launch::kAlone) {
    const int ranks = launch == Launch::kFourRanks ? 4 : 2;
    line = launch == Launch::kTorchrun && torch_major() > 1 && torchrun_works() ? with_torchrun(script)
                                                                                : by_hand(ranks, script);
  }
  Job job = shell(kOwnPort + line);
  job.folder = scratch.path();
  job.environment = {{"OMP_NUM_THREADS", "1"},
                     {"GLOO_SOCKET_IFNAME", "lo"},
                     {"TP_SOCKET_IFNAME", "lo"},
                     {"USE_LIBUV", "0"},  // Debian's PyTorch 2 lacks libuv
                     {"TORCHINDUCTOR_CACHE_DIR", scratch / "inductor"},
                     {"PROFSHIM_RANKS", "all"},
                     {"PROFSHIM_SET", "output.gzip=false output.folder='" + (scratch / "traces") + "' " + keys}};
  return job;
}

Job without_compiler(Job job) {
  job.environment.emplace_back("PYTHONPATH", torch_app("without_compiler"));
  return job;
}

Job torch_lines(const ScratchFolder& scratch, const std::string& script, const std::string& spec) {
  Job job = shell("exec " + torch_python() + " -c '" + script + "'");
  job.folder = scratch.path();
  job.environment.emplace_back("RANK", "0");
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", spec));
  return job;
}

std::map<std::string, int> torchs_counts(const std::string& path, int rank) {
  rapidjson::Document json;
  json.Parse(text_of_file(path + "." + std::to_string(rank)).c_str());
  std::map<std::string, int> counts;
  EXPECT_TRUE(json.IsObject()) << path;
  if (!json.IsObject()) return counts;
  for (const auto& member : json.GetObject()) counts[member.name.GetString()] = member.value.GetInt();
  return counts;
}

std::string differences(const SeenTrace& trace, const std::map<std::string, int>& theirs) {
  std::map<std::string, std::pair<int, int>> both;
  for (const char* category : {"cpu_op", "user_annotation"})
    for (const auto& [name, count] : trace.counts(category)) both[name].first += count;
  for (const auto& [name, count] : theirs) both[name].second = count;
  // The library also records record_param_comms for gloo, PyTorch only for NCCL.
  if (theirs.count("record_param_comms") == 0) both.erase("record_param_comms");
  std::string text;
  for (const auto& [name, counts] : both) {
    if (counts.first == counts.second || name.rfind("gloo:", 0) == 0 || name.rfind("ProfilerStep#", 0) == 0) continue;
    text += name + ": " + std::to_string(counts.first) + ", " + std::to_string(counts.second) + "\n";
  }
  return text;
}

int calls_in_step(const SeenTrace& trace, std::int64_t number, const std::string& name) {
  const auto step = trace.calls("ProfilerStep#" + std::to_string(number));
  if (step.size() != 1) return -1;
  int count = 0;
  for (const SeenEvent* call : trace.calls(name)) {
    if (call->ts_ns >= step[0]->ts_ns && call->ts_ns + call->duration_ns <= step[0]->ts_ns + step[0]->duration_ns) {
      ++count;
    }
  }
  return count;
}

void expect_whole_steps(const SeenTrace& trace, const std::string& optimizer) {
  ASSERT_EQ(trace.steps(), (std::vector<std::int64_t>{11, 12, 13})) << trace.path;
  const auto optimizers = trace.calls(optimizer);
  ASSERT_EQ(optimizers.size(), 3u) << trace.path;
  std::int64_t end = 0;
  for (std::int64_t number = 11; number <= 13; ++number) {
    const auto step = trace.calls("ProfilerStep#" + std::to_string(number));
    ASSERT_EQ(step.size(), 1u) << trace.path;
    EXPECT_EQ(calls_in_step(trace, number, optimizer), 1) << number;
    if (end != 0) {
      EXPECT_EQ(step[0]->ts_ns, end) << number;
    }
    end = step[0]->ts_ns + step[0]->duration_ns;
    const std::int64_t last = optimizers[static_cast<std::size_t>(number - 11)]->ts_ns +
                              optimizers[static_cast<std::size_t>(number - 11)]->duration_ns;
    for (const SeenEvent& event : trace.events) {
      const bool lies_between = event.ts_ns >= last && event.ts_ns < end;
      EXPECT_FALSE(event.category == "cpu_op" && lies_between) << event.name << " behind the optimizer of " << number;
    }
  }
}

}  // namespace profshim::e2e
