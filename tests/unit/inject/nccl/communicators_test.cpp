#include "inject/nccl/communicators.h"

#include <thread>

#include "unit/spool_fixture.h"

namespace profshim::nccl {
namespace {

using spool::Definition;
using spool::DefinitionKind;

class NcclCommunicators : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(4);
    recorder::header().rank = 1;
    recorder::header().world_size = 4;
  }
  void TearDown() override {
    for (const Handle handle : entered_) remove_communicator(handle);
    SpoolFixture::TearDown();
  }
  Communicator& enter(Handle handle, const CommunicatorInfo& info) {
    entered_.push_back(handle);
    Communicator* const made = add_communicator(handle, info);
    EXPECT_NE(made, nullptr);
    return *made;
  }
  static std::uint64_t identity(unsigned char first_byte, int ranks) {
    UniqueId id{};
    id.bytes[0] = first_byte;
    return identity_of_ids(&id, 1, ranks);
  }
  static const Definition* definition_of(const spool::View& view, std::uint32_t id) {
    const Definition* last = nullptr;
    for (const Definition* d : view.definitions()) {
      if (d->kind.load() == DefinitionKind::kCommunicator && d->id == id) last = d;
    }
    return last;
  }
  std::vector<Handle> entered_;
};

TEST_F(NcclCommunicators, OneUniqueIdIsOneIdentityOnAllRanks) {
  EXPECT_EQ(identity(1, 4), identity(1, 4));
  EXPECT_NE(identity(1, 4), identity(2, 4));
  EXPECT_NE(identity(1, 4), identity(1, 8));
  UniqueId two[2] = {};
  two[1].bytes[127] = 1;
  EXPECT_NE(identity_of_ids(two, 2, 4), identity_of_ids(two, 1, 4));
  EXPECT_EQ(identity_of_ids(nullptr, 1, 4), 0U);
}

// The expected values are from hashCombine() of NCCL 2.30.
TEST(NcclGrowth, IdOfAGrownCommunicatorBeginsAsNcclMakesIt) {
  EXPECT_EQ(magic_of_growth(0x0000000000000001, 2), 0xf969483a83291cbfU);
  EXPECT_EQ(magic_of_growth(0x0123456789abcdef, 1), 0xaaf9991288b8f75eU);
  EXPECT_EQ(magic_of_growth(0x0123456789abcdef, 7), 0x20a6183afe48ec7cU);
  EXPECT_EQ(magic_of_growth(0xfedcba9876543210, 1), 0xb9b8fd5e2c92c761U);
  EXPECT_EQ(magic_of_growth(0xfedcba9876543210, 7), 0x0342a3cbfcadaf6bU);
}

TEST_F(NcclCommunicators, OldAndNewRanksOfAGrowthHaveOneIdentity) {
  UniqueId id{};
  id.bytes[0] = 1;
  const CommunicatorInfo info{.identity = identity(1, 2), .size = 2, .magic = magic_of_id(&id)};
  Communicator& root = enter(0x1000, info);
  Communicator& other = enter(0x2000, info);
  next_split_identity(root, 0);
  next_split_identity(other, 1);
  const Magic magic = magic_of_growth(info.magic, 2);
  UniqueId of_growth{};
  std::memcpy(of_growth.bytes, &magic, sizeof magic);

  const Growth at_root = next_growth(&root, &of_growth, 3), at_other = next_growth(&other, nullptr, 3);
  const Growth at_new = next_growth(nullptr, &of_growth, 3);
  EXPECT_NE(at_root.identity, 0U);
  EXPECT_EQ(at_root.identity, at_other.identity);
  EXPECT_EQ(at_root.identity, at_new.identity);
  EXPECT_EQ(at_new.magic, at_other.magic) << "it may grow again";
  for (const Growth& growth : {at_root, at_other, at_new}) EXPECT_TRUE(growth.matched);
}

TEST_F(NcclCommunicators, IdMadeInAnotherWayIsDetected) {
  UniqueId id{}, unforeseen{};
  id.bytes[0] = 1;
  unforeseen.bytes[0] = 2;
  Communicator& root = enter(0x1000, {.identity = identity(1, 2), .size = 2, .magic = magic_of_id(&id)});
  Communicator& other = enter(0x2000, {.identity = identity(1, 2), .size = 2, .magic = magic_of_id(&id)});

  const Growth at_root = next_growth(&root, &unforeseen, 3);
  EXPECT_FALSE(at_root.matched);
  EXPECT_EQ(at_root.identity, next_growth(&other, nullptr, 3).identity) << "those that were there stay together";
}

TEST_F(NcclCommunicators, GrowthOfAnUnknownCommunicatorIsMatchedWithNone) {
  Communicator& here = enter(0x1000, {.identity = 7, .size = 2});
  Communicator& there = enter(0x2000, {.identity = 7, .size = 2});
  const Growth growth = next_growth(&here, nullptr, 3);
  EXPECT_FALSE(growth.matched);
  EXPECT_EQ(growth.identity, next_growth(&there, nullptr, 3).identity);
  Communicator& unknown = enter(0x3000, {});
  EXPECT_EQ(next_growth(&unknown, nullptr, 3).identity, 0U);
}

TEST_F(NcclCommunicators, SplitsDifferByColorAndSequenceNumber) {
  Communicator& here = enter(0x1000, {identity(1, 4), 0, 4, 1});
  Communicator& there = enter(0x2000, {identity(1, 4), 0, 4, 2});
  const std::uint64_t first_here = next_split_identity(here, 0), first_there = next_split_identity(there, 1);
  EXPECT_NE(first_here, first_there) << "different colors";
  const std::uint64_t second_here = next_split_identity(here, 7), second_there = next_split_identity(there, 7);
  EXPECT_EQ(second_here, second_there) << "the same color of the same split";
  EXPECT_NE(next_split_identity(here, 7), second_here) << "another split";
}

TEST_F(NcclCommunicators, ARankWithoutAColorCountsTheSplitToo) {
  Communicator& here = enter(0x1000, {identity(1, 4), 0, 4, 1});
  Communicator& there = enter(0x2000, {identity(1, 4), 0, 4, 2});
  next_split_identity(here, kNoColor);
  next_split_identity(there, 3);
  EXPECT_EQ(next_split_identity(here, 0), next_split_identity(there, 0));
}

TEST_F(NcclCommunicators, ShrinksDoNotDependOnTheOrderOfExcludedRanks) {
  Communicator& here = enter(0x1000, {identity(1, 4), 0, 4, 1});
  Communicator& there = enter(0x2000, {identity(1, 4), 0, 4, 2});
  const int one_order[] = {0, 3}, other_order[] = {3, 0}, others[] = {0, 1};
  EXPECT_EQ(next_shrink_identity(here, one_order, 2), next_shrink_identity(there, other_order, 2));
  EXPECT_NE(next_shrink_identity(here, one_order, 2), next_shrink_identity(there, others, 2));
}

TEST_F(NcclCommunicators, ChildOfAnUnknownCommunicatorIsUnknown) {
  Communicator& unknown = enter(0x1000, {});
  EXPECT_EQ(next_split_identity(unknown, 1), 0U);
  EXPECT_EQ(next_shrink_identity(unknown, nullptr, 0), 0U);
}

TEST_F(NcclCommunicators, SequenceNumbersRestartIfAHandleIsReused) {
  Communicator& old = enter(0x1000, {identity(1, 4), 0, 4, 1});
  EXPECT_EQ(next_sequence(old), 1U);
  EXPECT_EQ(next_sequence(*find_or_add_communicator(0x1000)), 2U);
  const std::uint32_t id = old.id;
  Communicator* const freed = remove_communicator(0x1000);
  restore_communicator(freed, 0x1000);
  EXPECT_EQ(next_sequence(*find_or_add_communicator(0x1000)), 3U) << "the call that frees it has failed";
  remove_communicator(0x1000);
  Communicator& fresh = enter(0x1000, {identity(2, 4), 0, 4, 1});
  EXPECT_EQ(next_sequence(fresh), 1U);
  EXPECT_NE(fresh.id, id);
  EXPECT_EQ(find_or_add_communicator(0), nullptr);
}

TEST_F(NcclCommunicators, HandleStoredLaterIsFoundByItsAddress) {
  Handle place = 0;
  add_when_stored(&place, {identity(1, 4), 0, 4, 3});
  add_stored_communicators();
  place = 0x5000;
  entered_.push_back(place);
  Communicator* const found = find_or_add_communicator(0x5000);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->identity, identity(1, 4));
  EXPECT_EQ(found->rank.load(), 3);
}

TEST_F(NcclCommunicators, HandlesStoredByTheEndOfAGroupAreReadOnce) {
  Handle place = 0;
  add_when_stored(&place, {identity(1, 4), 0, 4, 3});
  place = 0x6000;
  entered_.push_back(place);
  add_stored_communicators();
  next_sequence(*find_or_add_communicator(0x6000));
  place = 0x7000;
  add_stored_communicators();
  entered_.push_back(0x7000);
  EXPECT_EQ(find_or_add_communicator(0x6000)->sequence.load(), 1U);
  EXPECT_EQ(find_or_add_communicator(0x7000)->identity, 0U);
}

TEST_F(NcclCommunicators, UnmappedAddressIsNotRead) {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  add_when_stored(page, {identity(1, 4), 0, 4, 3});
  munmap(page, 4096);
  entered_.push_back(0x8000);
  EXPECT_EQ(find_or_add_communicator(0x8000)->identity, 0U);
}

// Only `make test-tsan` finds data races here.
TEST_F(NcclCommunicators, EachThreadTakesTheHandlesThatItWaitsFor) {
  constexpr Handle kThreads = 4, kRounds = 2000;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  std::atomic<Handle> ready{0};
  for (Handle t = 1; t <= kThreads; ++t) {
    threads.emplace_back([&, t] {
      recorder::this_thread();
      for (++ready; ready < kThreads;) std::this_thread::yield();
      for (Handle round = 0; round < kRounds; ++round) {
        Handle place = 0;
        add_when_stored(&place, {identity(static_cast<unsigned char>(t), 4), 0, 4, 3});
        std::this_thread::yield();
        place = t << 32 | round << 8 | 0x80;
        add_stored_communicators();
        const Communicator* const found = find_or_add_communicator(place);
        if (found == nullptr || found->identity != identity(static_cast<unsigned char>(t), 4)) ++wrong;
        remove_communicator(place);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(NcclCommunicators, TheDefinitionSaysWhatIsCertain) {
  Communicator& whole = enter(0x1000, {identity(1, 4), 0, 4, 1, 3, recorder::intern("init")});
  Communicator& reordered = enter(0x2000, {identity(2, 4), 0, 4, 0, 3, recorder::intern("init")});
  Communicator& alone = enter(0x3000, {identity(3, 1), whole.id, 1, 0, 3, origin_text("split", &whole)});
  for (Communicator* const comm : {&whole, &reordered, &alone}) {
    EXPECT_GE(defined_id(*comm), kFirstId) << "apart from MPI's";
    defined_id(*comm);
  }
  const auto v = view();
  const Definition* const d = definition_of(*v, whole.id);
  ASSERT_NE(d, nullptr);
  EXPECT_EQ(static_cast<std::uint64_t>(d->v[0]), identity(1, 4));
  EXPECT_EQ(d->v[1], 4);
  EXPECT_EQ(d->v[2], 1);
  EXPECT_EQ(d->v[4], static_cast<std::int64_t>(spool::CommunicatorBackend::kNccl));
  EXPECT_EQ(d->v[5], 3);
  EXPECT_EQ(v->string(d->text), "[0, 1, 2, 3]");
  EXPECT_EQ(v->string(definition_of(*v, reordered.id)->text), "") << "rank 1 of the job is rank 0 in it";
  EXPECT_EQ(v->string(definition_of(*v, alone.id)->text), "[1]");
  EXPECT_EQ(v->string(definition_of(*v, alone.id)->name), "split of init");
  EXPECT_EQ(definition_of(*v, alone.id)->v[3], whole.id);
}

TEST_F(NcclCommunicators, HandleOfAHashNeedsNoQueryToNccl) {
  const Handle handle = handle_of_hash(0x1234);
  entered_.push_back(handle);
  Communicator* const comm = find_or_add_communicator(handle);
  ASSERT_NE(comm, nullptr);
  EXPECT_TRUE(comm->from_nvtx);
  EXPECT_EQ(comm->identity, identity_of_hash(handle));
  EXPECT_EQ(size_of(*comm), kUnknown);
  EXPECT_EQ(handle_of_hash(0), 0U);
}

}  // namespace
}  // namespace profshim::nccl
