#include "example_jobs.h"

#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {

std::string write_example(const ScratchFolder& scratch, const std::string& name, const Replacements& replacements) {
  std::string text = text_of_file(PROFSHIM_SOURCE_DIR "/tests/golden/good_specs/" + name);
  for (const auto& [from, to] : replacements) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << name << " has no " << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return scratch.write(name, text);
}

std::string fake_cuda_folder() {
  const std::string library = built("tests/fakes/cuda13/libcudart.so.13");
  return library.substr(0, library.rfind('/'));
}

bool torch_is_for_cuda() {
  static const bool is_for_cuda =
      run(Job{.command = {torch_python(), "-c", "import sys, torch; sys.exit(torch.version.cuda is not None)"},
              .preload = false})
          .ending() == "exit 1";
  return is_for_cuda;
}

Job python_job(const ScratchFolder& scratch, const std::string& spec, const std::vector<Process>& processes) {
  std::string text = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=$((10000 + $$ % 20000)); ";
  for (const Process& process : processes) {
    const std::string size = std::to_string(process.ranks_per_node);
    text += "RANK=" + std::to_string(process.rank) + " WORLD_SIZE=" + std::to_string(process.ranks) +
            " LOCAL_RANK=" + std::to_string(process.rank % process.ranks_per_node) + " LOCAL_WORLD_SIZE=" + size +
            " GROUP_RANK=" + std::to_string(process.rank / process.ranks_per_node) + " " + torch_python() +
            " " PROFSHIM_SOURCE_DIR "/tests/apps_examples/" + process.arguments + " & p=\"$p $!\"; ";
  }
  Job job = shell(text + "s=0; for i in $p; do wait $i || s=1; done; exit $s");
  job.folder = scratch.path();
  job.environment = {{"PROFSHIM_SPEC", spec},
                     {"LD_LIBRARY_PATH", fake_cuda_folder()},
                     {"EXTENSION", built("tests/apps_examples/libtraining_kernels.so")},
                     {"FAKE_CUDA_DEVICES", "9"},
                     {"OMP_NUM_THREADS", "1"},
                     {"GLOO_SOCKET_IFNAME", "lo"}};
  return job;
}

std::map<std::string, int> kernels_of(const SeenTrace& trace) {
  std::map<std::string, int> kernels;
  for (const SeenEvent* kernel : of_category(trace, "kernel"))
    ++kernels[kernel->name.substr(0, kernel->name.find('('))];
  return kernels;
}

}  // namespace profshim::e2e
