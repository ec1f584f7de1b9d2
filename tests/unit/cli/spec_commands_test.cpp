#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "profshim/spec.h"
#include "unit/cli/tool.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

using Json = nlohmann::json;
using test::run_shell;

TEST(Check, PrintsTheExpectedLinesOfEveryBadSpec) {
  for (const std::string& name : test::bad_specs()) {
    const auto run = run_shell("profshim check " + name, test::kBadSpecs);

    EXPECT_EQ(run.status, 2) << name;
    EXPECT_EQ(run.out, "") << name;
    EXPECT_EQ(run.err, test::expected_lines(name)) << name;
  }
}

TEST(Check, AcceptsTheExamplesAndTheReference) {
  const auto run = run_shell("for f in reference.toml examples/*.toml; do profshim check $f || exit 1; done",
                             PROFSHIM_SOURCE_DIR "/config");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
}

TEST(Check, WarningsDoNotFail) {
  const auto run = run_shell("profshim check --set schedule.warmup=0");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.err.find("--set: schedule.warmup: warning:"), std::string::npos);
}

TEST(Check, WritesProblemsAsJson) {
  const auto run = run_shell("profshim check --json --set schedule.actve=0");
  EXPECT_EQ(run.status, 2);
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json.at("ok"), false);
  EXPECT_EQ(json.at("problems").at(0).at("key"), "schedule.actve");
}

TEST(Check, ReportsAMissingSpec) { EXPECT_EQ(run_shell("profshim check").status, 2); }

TEST(Explain, ShowsTheLoopsOfATrace) {
  const test::TemporaryFolder folder;
  std::string events;
  for (int i = 0; i < 40; ++i) {
    const auto event = [&](const char* category, const char* name, int at) {
      events += std::string(events.empty() ? "" : ",\n") + R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" +
                name + R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(1000 * i + at) + R"(, "dur": 100})";
    };
    event("cpu_op", i % 2 == 0 ? "aten::detach" : "aten::neg", 100);
    event("cpu_op", "aten::linear", 200);
    event("user_annotation", "Optimizer.step#Adam.step", 400);
  }
  std::ofstream(folder.path() + "/gan.pt.trace.json") << "{\"traceEvents\": [" + events + "]}";

  const auto text = run_shell("profshim explain --steps gan.pt.trace.json", folder.path());
  const Json json = Json::parse(run_shell("profshim explain --json --steps gan.pt.trace.json", folder.path()).out);

  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(
      text.out.find("source = \"torch\"\n  pattern = \"Optimizer.step#Adam.step\"\n  edge = \"end\"\n  every = 2\n"),
      std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("every 2 calls of Optimizer.step#Adam.step"), std::string::npos) << text.out;
  const Json& levels = json.at(0).at("levels");
  const auto chosen =
      std::find_if(levels.begin(), levels.end(), [](const Json& level) { return level.at("chosen") == true; });
  ASSERT_NE(chosen, levels.end()) << json;
  EXPECT_EQ(chosen->at("every"), 2);
  EXPECT_EQ(chosen->at("cycles"), 19);
}

TEST(Explain, ListsPhasesWithTheirRanksAndTraces) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/s.toml")
      << "version = 1\n[output]\nfolder = \"out/{phase}\"\nfilename = \"{phase}_{step}_rank{rank}.pt.trace.json\"\n"
         "[[phase]]\nname = \"sync\"\nnvtx = \"update*\"\n[[phase]]\nname = \"actor\"\ntorch = \"actor*\"\nmode = "
         "\"window\"\nranks = \"every:8\"\nschedule = { steps = [\"2-3\"] }\n";

  const auto text = run_shell("profshim explain s.toml --world-size 16", folder.path());
  const Json json = Json::parse(run_shell("profshim explain s.toml --world-size 16 --json", folder.path()).out);

  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("phase sync: nvtx \"update*\", marked in the traces of steps on ranks 0\n"),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("phase actor: torch \"actor*\", traces of its own on ranks 0,8\n"
                          "  rank 0, occurrences 2: actor/actor_STEP_rank0.pt.trace.json\n"),
            std::string::npos)
      << text.out;
  EXPECT_TRUE(json.at("folder").get<std::string>().ends_with("/out")) << json;
  EXPECT_EQ(json.at("phases").at(1).at("ranks"), Json::parse("[0, 8]"));
  EXPECT_EQ(json.at("phases").at(1).at("windows").size(), 2u);
}

TEST(Explain, ATraceThatCannotBeReadGivesOneLine) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/no.json") << "hello";

  const auto run = run_shell("profshim explain --steps no.json", folder.path());

  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_NE(run.err.find("no.json"), std::string::npos) << run.err;
  const auto missing = run_shell("profshim explain --steps missing.json", folder.path());
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("missing.json: "), std::string::npos) << missing.err;
}

TEST(ScheduleCommand, AgreesWithTheScheduleOfTorch) {
  const Json vectors = Json::parse(std::ifstream(PROFSHIM_SOURCE_DIR "/tests/golden/schedule-vectors.json"));
  for (const Json& vector : vectors.at("schedules")) {
    std::string arguments;
    for (const auto& [key, value] : vector.at("config").items())
      arguments += " --set schedule." + key + "=" + value.dump();

    const Json json = Json::parse(run_shell("profshim schedule --json --steps 31" + arguments).out);

    EXPECT_EQ(json.at("actions"), vector.at("actions")) << vector.at("id");
    ASSERT_EQ(json.at("windows").size(), vector.at("windows").size()) << vector.at("id");
    for (std::size_t i = 0; i < json.at("windows").size(); ++i) {
      EXPECT_EQ(json.at("windows")[i].at("first"), vector.at("windows")[i].at("record_first"));
      EXPECT_EQ(json.at("windows")[i].at("last"), vector.at("windows")[i].at("record_last"));
      EXPECT_EQ(json.at("windows")[i].at("complete"), vector.at("windows")[i].at("complete"));
    }
  }
}

TEST(Explain, KnowsTheRoleOfTheEnvironment) {
  const auto plan = run_shell(
      "PROFSHIM_ROLE=actor profshim explain --world-size 2 --set ranks.select=role:act* --set "
      "'output.folder=runs/{role}'");
  EXPECT_NE(plan.out.find("runs/actor"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("rank1"), std::string::npos) << plan.out;
}

TEST(Explain, NamesTheProcessIdThatIsNotKnown) {
  const auto plan = run_shell("profshim explain --steps 20 --set 'output.filename=rank{rank}_pid{pid}_w{window}.json'");
  EXPECT_NE(plan.out.find("rank0_pidPID_w0.json"), std::string::npos) << plan.out;
}

TEST(Keys, TheReferenceMatchesTheTool) {
  EXPECT_EQ(run_shell("profshim keys --toml").out, test::read_all(PROFSHIM_SOURCE_DIR "/config/reference.toml"));
}

TEST(Keys, TheSchemaFileMatchesTheTool) {
  EXPECT_EQ(run_shell("profshim keys --schema").out,
            test::read_all(PROFSHIM_SOURCE_DIR "/config/profshim.schema.json"));
}

TEST(Keys, JsonAndMarkdownHoldEveryKey) {
  EXPECT_EQ(Json::parse(run_shell("profshim keys --json").out).size(), spec_keys().size());
  const std::string markdown = run_shell("profshim keys --markdown").out;
  EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '\n'), static_cast<long>(spec_keys().size()) + 2);
}

TEST(Explain, ListsRanksWindowsAndFiles) {
  const auto run = run_shell(
      "profshim explain --json --world-size 16 --local-world-size 8 --ranks 'node:1 & local:0-1, last' --steps 3,5-6 "
      "--run-name r --folder out/{run_name}");
  ASSERT_EQ(run.status, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json.at("ranks"), Json::parse("[8, 9, 15]"));
  EXPECT_EQ(json.at("windows"), Json::parse(R"([{"first": 3, "last": 3}, {"first": 5, "last": 6}])"));
  EXPECT_EQ(json.at("files").size(), 6u);
  EXPECT_EQ(json.at("folder"), "/tmp/out/r");
}

TEST(Explain, PrintsTheOriginOfEachValue) {
  const auto run = run_shell("PROFSHIM_RANKS=0-1 profshim explain --world-size 2 --set limits.total_traces=3");
  EXPECT_NE(run.out.find("\"0-1\"                          # PROFSHIM_RANKS\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("# --set\n"), std::string::npos);
}

TEST(Explain, EstimatesTheCostOfStacksAndInputs) {
  const std::string explain = "profshim explain --world-size 2 --events-per-step 1000 --set capture.stack_depth=10";

  EXPECT_NE(run_shell(explain).out.find("cost of a recorded step: about 100.0 us"), std::string::npos);
  EXPECT_NE(
      run_shell(explain + " --set capture.record_shapes=true").out.find("cost of a recorded step: about 250.0 us"),
      std::string::npos);
  EXPECT_NE(run_shell(explain + " --set capture.with_stack=true").out.find("cost of a recorded step: about 200.0 us"),
            std::string::npos);
}

TEST(Explain, SelectingNoRankIsAnErrorAndAnUnknownRankAWarning) {
  const auto nobody = run_shell("profshim explain --world-size 4 --ranks 7");
  EXPECT_EQ(nobody.status, 2);
  EXPECT_NE(nobody.err.find("--ranks: ranks.select: \"7\" selects no rank in a job of 4"), std::string::npos);
  const auto outside = run_shell("profshim explain --world-size 4 --ranks 0,7");
  EXPECT_EQ(outside.status, 0);
  EXPECT_NE(outside.err.find("warning: rank 7 does not exist"), std::string::npos);
}

TEST(Explain, MoreRanksPerNodeThanInTheJobIsAnError) {
  const auto run = run_shell("profshim explain --world-size 2 --local-world-size 8");
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("8 ranks per node in a job of 2"), std::string::npos) << run.err;
}

TEST(Explain, AHugeWindowIsPlannedAtOnce) {
  const auto run = run_shell("timeout 10 profshim explain --set schedule.active=100000000000");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("window 0: steps 11 to 100000000010"), std::string::npos) << run.out;
  const auto list = run_shell("timeout 10 profshim explain --json --set 'schedule.steps=[\"5-100000000000\"]'");
  EXPECT_EQ(Json::parse(list.out).at("windows"), Json::parse(R"([{"first": 5, "last": 100000000000}])"));
}

TEST(Explain, CountsFilesBeyondTheListedOnes) {
  const auto run = run_shell("profshim explain --world-size 20000 --ranks all");
  EXPECT_NE(run.out.find("files: 20000 in"), std::string::npos) << run.out.substr(0, 200);
  EXPECT_NE(run.out.find("... and 19936 more"), std::string::npos);
}

TEST(Explain, PrintsTheStepNumbersOfTheJob) {
  const auto run = run_shell("profshim explain --set steps.first=1");
  EXPECT_NE(run.out.find("window 0: steps 11 to 13 (in the trace: 12 to 14)\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("step12/rank0.12.pt.trace.json"), std::string::npos);
}

TEST(ScheduleCommand, ListsEveryWindow) {
  const auto run = run_shell(
      "profshim schedule --steps 300000 --set schedule.skip_first=0 --set schedule.warmup=0 --set schedule.wait=1 "
      "--set schedule.active=1 --set schedule.repeat=0 | tail -n 1");
  EXPECT_EQ(run.out, "window 149999: steps 299999 to 299999\n");
}

TEST(Tool, UnknownCommandsGetAHint) {
  const auto run = run_shell("profshim chek");
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err, "profshim: unknown command \"chek\"; did you mean \"check\"?\n");
}

TEST(Tool, EveryCommandHasHelpWithAnExample) {
  for (const char* command : {"run", "check", "explain", "schedule", "keys"}) {
    const auto run = run_shell(std::string("profshim ") + command + " --help");
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.out.find("Example:"), std::string::npos) << command;
  }
}

TEST(Tool, AFullDiskIsAFailure) { EXPECT_EQ(run_shell("profshim keys >/dev/full").status, 2); }

}  // namespace
}  // namespace profshim
