#include <gtest/gtest.h>

#include <set>

#include "profshim/spec/name_pattern.h"

namespace profshim {
namespace {

NameValues values(int rank, std::int64_t window = 0) {
  NameValues v;
  v.rank.rank = rank;
  v.rank.world_size = 4;
  v.rank.local_rank = 1;
  v.rank.local_world_size = 2;
  v.rank.node_rank = 1;
  v.run_name = "run";
  v.host = "node7";
  v.pid = 99;
  v.first_step = 11 + window * 10;
  v.last_step = 13 + window * 10;
  v.window = window;
  v.epoch = 2;
  v.time_ns = 1'500'000'000'123;
  v.job_id = "slurm-1";
  return v;
}

TEST(Expand, KnowsEveryVariable) {
  const NameValues v = values(3);

  EXPECT_EQ(expand("{run_name} {rank} {local_rank} {world_size} {local_world_size} {node_rank} {host} {pid}", v),
            "run 3 1 4 2 1 node7 99");
  EXPECT_EQ(expand("{step} {first_step} {last_step} {window} {epoch} {time} {time_ns} {job_id} {phase}", v),
            "11 11 13 0 2 1500 1500000000123 slurm-1 step");
  EXPECT_EQ(expand("{role}", v), "main");
  NameValues actor = v;
  actor.rank.role = "actor";
  EXPECT_EQ(expand("{role}", actor), "actor");
  for (const std::string_view variable : pattern_variables()) {
    EXPECT_NE(expand("{" + std::string(variable) + "}", v), "") << variable;
  }
}

Spec with_phase_windows(const std::string& folder, const std::string& filename) {
  Spec spec;
  spec.output.folder = folder;
  spec.output.filename = filename;
  spec.phases.push_back({.name = "actor", .has_windows = true});
  return spec;
}

TEST(PatternsOf, AFolderThatDependsOnThePhaseBelongsToTheTraces) {
  const Patterns patterns = patterns_of(with_phase_windows("/scratch/{run_name}/{phase}", "rank{rank}.json"));

  EXPECT_EQ(patterns.folder, "/scratch/{run_name}");
  EXPECT_EQ(patterns.file, "{phase}/rank{rank}.json");
  EXPECT_EQ(patterns_of(with_phase_windows("a-{phase}", "f")).folder, ".");
  EXPECT_EQ(patterns_of(with_phase_windows("/{phase}/b", "f")).folder, "/");
  EXPECT_EQ(patterns_of(with_phase_windows("/{phase}/b", "f")).file, "{phase}/b/f");
}

TEST(PatternsOf, WithoutWindowsOfPhasesTheFolderStays) {
  Spec spec = with_phase_windows("out/{phase}", "rank{rank}.json");
  spec.phases[0].has_windows = false;

  EXPECT_EQ(patterns_of(spec).folder, "out/{phase}");
}

TEST(TraceFileName, OfAPhaseHasThePhase) {
  NameValues v = values(3);
  v.phase = "actor";
  v.occurrence = 4;
  std::string added;

  EXPECT_EQ(trace_file_name(with_phase_windows("out", "step{step}/rank{rank}.{step}.pt.trace.json"), v, added),
            "actor-4/step11/rank3.11.pt.trace.json");
  EXPECT_EQ(trace_file_name(with_phase_windows("out/{phase}", "rank{rank}.{occurrence}.json"), v, added),
            "actor/rank3.4.json");
  EXPECT_EQ(added, "");
}

TEST(Expand, UnknownValuesAreNamedUnknown) {
  NameValues v = values(3);
  v.rank.node_rank = -1;

  EXPECT_EQ(expand("{node_rank}", v), "unknown");
}

TEST(Expand, ValuesFromTheEnvironmentStayInTheirPathComponent) {
  NameValues v = values(3);
  v.job_id = "../../etc";
  v.host = "a b;rm -rf $HOME\n";
  v.phase = "..";

  EXPECT_EQ(expand("out/{job_id}/{host}/{phase}", v), "out/_._.._etc/a_b_rm_-rf__HOME_/_");
}

TEST(Expand, ProgramNamesAreSafeInShellsAndOnOtherSystems) {
  NameValues v = values(3);
  v.run_name = "ray::Trainer.__init__";
  EXPECT_EQ(expand("{run_name}", v), "ray__Trainer.__init__");
  v.run_name = "CON: *?\"<>|'`";
  EXPECT_EQ(expand("{run_name}", v), "CON__________");
  v.job_id = "";
  EXPECT_EQ(expand("{job_id}", v), "unknown");
}

TEST(TraceFileName, DefaultNeedsNoAddition) {
  std::string added;

  EXPECT_EQ(trace_file_name(Spec{}, values(3), added), "step11/rank3.11.pt.trace.json");
  EXPECT_EQ(added, "");
}

TEST(TraceFileName, MissingPartsAreAddedToMakeNamesUnique) {
  Spec spec;
  spec.output.filename = "trace.json";
  spec.schedule.repeat = 3;
  std::set<std::string> names;
  for (int rank = 0; rank < 4; ++rank) {
    for (int window = 0; window < 3; ++window) {
      std::string added;
      names.insert(trace_file_name(spec, values(rank, window), added));
      EXPECT_NE(added, "");
    }
  }

  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(names.count("trace-rank2-w1.json"), 1u);
}

TEST(TraceFileName, SuffixFollowsGzip) {
  Spec spec;
  std::string added;
  spec.output.gzip = Gzip::kYes;
  EXPECT_TRUE(trace_file_name(spec, values(0), added).ends_with(".pt.trace.json.gz"));

  spec.output.filename = "r{rank}.json.gz";
  spec.output.gzip = Gzip::kNo;
  EXPECT_EQ(trace_file_name(spec, values(0), added), "r0.json");
}

TEST(WithPart, GoesBeforeTheEndingsThatReadersNeed) {
  EXPECT_EQ(with_part("step11/rank3.11.pt.trace.json", "_part2"), "step11/rank3_part2.11.pt.trace.json");
  EXPECT_EQ(with_part("a.b/trace", "_part2"), "a.b/trace_part2");
  EXPECT_EQ(with_part("x.json.gz", "-rank1"), "x-rank1.json.gz");
}

TEST(RunName, IsOnePathComponent) {
  Spec spec;
  spec.profile.run_name = "a/b {x}";
  EXPECT_EQ(run_name_for(spec, {"k", "r"}), "a_b__x_");
  spec.profile.run_name = "..";
  EXPECT_EQ(run_name_for(spec, {"k", "r"}), "_");
}

TEST(RunName, IsNotCutInsideACharacter) {
  Spec spec;
  spec.profile.run_name = "a";
  for (int i = 0; i < 150; ++i) spec.profile.run_name += "\u00e9";

  const std::string name = run_name_for(spec, {"k", "r"});

  EXPECT_EQ(name.size(), 199U);
  EXPECT_EQ(name, spec.profile.run_name.substr(0, 199));
}

}  // namespace
}  // namespace profshim
