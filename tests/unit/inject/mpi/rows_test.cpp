#include "inject/mpi/rows.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace profshim::mpi {
namespace {

struct Named {
  std::string name, fortran, capitals;
  Row row;
  std::vector<Role> roles;
};

const std::vector<Named>& rows() {
  static const std::vector<Named> all = {
#define HOOK(name, fortran, capitals, behavior, payload, ...) \
  {#name,                                                     \
   #fortran,                                                  \
   #capitals,                                                 \
   RowOf<hooks::name>::kRow,                                  \
   {RowOf<hooks::name>::kRoles.begin(), RowOf<hooks::name>::kRoles.end()}},
#include "profshim/hooks/mpi.def"
#undef HOOK
  };
  return all;
}

TEST(MpiRows, NamesAreUnique) {
  std::set<std::string> names;
  for (const Named& row : rows()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(MpiRows, FortranNamesDifferFromTheCNameInCaseOnly) {
  for (const Named& row : rows()) {
    if (row.fortran.empty()) continue;
    std::string lower, upper;
    for (const char c : row.name) {
      lower += static_cast<char>(std::tolower(c));
      upper += static_cast<char>(std::toupper(c));
    }
    EXPECT_EQ(row.fortran, lower);
    EXPECT_EQ(row.capitals, upper);
  }
}

bool is_repeatable(Role role) {
  return role == Role::Ptr || role == Role::Int || role == Role::Wide || role == Role::Opaque || role == Role::Text;
}

TEST(MpiRows, ArgumentsThatAreReadHaveOnePosition) {
  for (const Named& row : rows()) {
    std::set<Role> seen;
    int peers = 0;
    for (const Role role : row.roles) {
      EXPECT_TRUE(is_repeatable(role) || seen.insert(without_width(role)).second) << row.name;
      peers += is_peer(role);
    }
    EXPECT_LE(peers, 1) << row.name;
  }
}

TEST(MpiRows, PeerArgumentIsNamedByItsRole) {
  for (const Named& row : rows()) {
    const auto has = [&row](Role role) { return row.row.has(role); };
    const PeerKind expected = has(Role::Root)      ? PeerKind::kRoot
                              : has(Role::Dest)    ? PeerKind::kDestination
                              : row.row.receives() ? PeerKind::kSource
                              : has(Role::Target)  ? PeerKind::kTarget
                                                   : PeerKind::kNone;
    EXPECT_EQ(peer_kind(row.row.hook), expected) << row.name;
  }
}

TEST(MpiRows, CallsThatBeginOrEndMpiAreKnownByTheirBehavior) {
  for (const Named& row : rows()) {
    const Behavior behavior = row.row.behavior;
    EXPECT_EQ(begins_or_ends_mpi(row.row.hook), behavior == Behavior::Initialize ||
                                                    behavior == Behavior::InitializeSession ||
                                                    behavior == Behavior::Finalize || behavior == Behavior::Abort)
        << row.name;
  }
  EXPECT_TRUE(begins_or_ends_mpi(hooks::MPI_Init_thread));
  EXPECT_FALSE(begins_or_ends_mpi(HookId::kMpiPolls));
  EXPECT_FALSE(begins_or_ends_mpi(hooks::ncclCommInitRank));
}

TEST(MpiRows, EveryCreationSaysHowTheCommunicatorIsMade) {
  for (const Named& row : rows()) {
    EXPECT_EQ(row.row.has(Role::NewComm), *row.row.made != 0) << row.name;
  }
}

TEST(MpiRows, CollectivesSayOnWhichCommunicator) {
  for (const Named& row : rows()) {
    if (row.row.behavior == Behavior::Collective || row.row.behavior == Behavior::PersistentCollectiveInit) {
      EXPECT_GE(row.row.position(Role::Comm), 0) << row.name;
    }
  }
}

TEST(MpiRows, PersistentInitsGiveARequest) {
  for (const Named& row : rows()) {
    if (row.row.behavior == Behavior::PersistentInit || row.row.behavior == Behavior::PersistentCollectiveInit) {
      EXPECT_GE(row.row.position(Role::Request), 0) << row.name;
    }
  }
}

TEST(MpiRows, ThePayloadHasADatatypeOnItsSide) {
  for (const Named& row : rows()) {
    if (row.row.payload == Payload::Nothing) continue;
    const bool received = row.row.payload == Payload::Received;
    const int type = received ? row.row.position(Role::RType) : row.row.position(Role::Type);
    EXPECT_TRUE(type >= 0 || row.row.has(Role::Types)) << row.name;
  }
}

TEST(MpiRows, LargeCountFormsHaveTheArgumentsOfTheOrdinaryForms) {
  for (const Named& row : rows()) {
    if (!row.name.ends_with("_c")) continue;
    const HookId ordinary = hook_by_name(row.name.substr(0, row.name.size() - 2));
    ASSERT_NE(ordinary, HookId::kNone) << row.name;
    for (const Named& other : rows()) {
      if (other.row.hook != ordinary) continue;
      EXPECT_EQ(row.row.arguments, other.row.arguments) << row.name;
      EXPECT_EQ(row.row.behavior, other.row.behavior) << row.name;
      EXPECT_EQ(row.row.position(Role::Comm), other.row.position(Role::Comm)) << row.name;
    }
  }
}

}  // namespace
}  // namespace profshim::mpi
