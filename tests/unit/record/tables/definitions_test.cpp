#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using DefinitionsTest = test::SpoolFixture;

TEST_F(DefinitionsTest, AProblemIsReportedOnce) {
  make_spool(64);
  for (int i = 0; i < 100; ++i) recorder::problem("mpi", "too many of them");

  EXPECT_EQ(view()->definitions().size(), 1u);
}

TEST_F(DefinitionsTest, DefinitionsThatDoNotFitAreCounted) {
  make_spool(64);
  for (std::uint32_t i = 0; i < spool::kMaxDefinitions + 5; ++i)
    recorder::define(spool::DefinitionKind::kDatatype, i, 1);

  EXPECT_EQ(recorder::header().definitions_lost.load(), 5u);
}

TEST_F(DefinitionsTest, AnchorsAreReadConsistentlyWhileTheyAreReplaced) {
  make_spool(64);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> made{0};
  std::thread adds([&] {
    for (std::int64_t n = 1; !stop; made = n++) recorder::add_anchor({static_cast<Ticks>(n), n, n});
  });
  while (made < 3 * spool::kMaxAnchors) std::this_thread::yield();
  const auto v = view();
  std::size_t torn = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const Anchor& a : v->anchors()) torn += static_cast<std::int64_t>(a.ticks) != a.realtime_ns ? 1 : 0;
  }
  stop = true;
  adds.join();

  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(v->anchors().front().ticks, 1u);
}

}  // namespace
}  // namespace profshim
