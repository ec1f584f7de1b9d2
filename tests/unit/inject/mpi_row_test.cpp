// hooks/mpi.def as a whole: what must hold for every row, whoever adds one.
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "inject/mpi/rows.h"

namespace profshim::mpi {
namespace {

struct Named {
  std::string name, fortran, capitals;
  Row row;
};

const std::vector<Named>& rows() {
  static const std::vector<Named> all = {
#define HOOK(name, fortran, capitals, behaviour, payload, ...) {#name, #fortran, #capitals, RowOf<HookId::name>::kRow},
#include "profshim/hooks/mpi.def"
#undef HOOK
  };
  return all;
}

TEST(MpiRows, NamesAreUnique) {
  std::set<std::string> names;
  for (const Named& row : rows()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(MpiRows, FortranNamesAreTheCNameInOtherLetters) {
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

TEST(MpiRows, CollectivesSayOnWhichCommunicator) {
  for (const Named& row : rows()) {
    if (row.row.behaviour == Behaviour::Collective || row.row.behaviour == Behaviour::PrepareCollective) {
      EXPECT_GE(row.row.comm, 0) << row.name;
    }
  }
}

TEST(MpiRows, PreparedOperationsGiveARequest) {
  for (const Named& row : rows()) {
    if (row.row.behaviour == Behaviour::Prepare || row.row.behaviour == Behaviour::PrepareCollective) {
      EXPECT_GE(row.row.request, 0) << row.name;
    }
  }
}

TEST(MpiRows, APayloadHasACountAndADatatypeOnTheSideItIsMeasured) {
  for (const Named& row : rows()) {
    if (row.row.payload == Payload::Nothing) continue;
    const bool received = row.row.payload == Payload::Received;
    const int type = received ? row.row.receive_type : row.row.type;
    EXPECT_TRUE(type >= 0 || row.row.types >= 0) << row.name;
  }
}

TEST(MpiRows, LargeCountFormsHaveTheArgumentsOfTheirOrdinaryOnes) {
  for (const Named& row : rows()) {
    if (!row.name.ends_with("_c")) continue;
    const HookId ordinary = hook_by_name(row.name.substr(0, row.name.size() - 2));
    ASSERT_NE(ordinary, HookId::kNone) << row.name;
    for (const Named& other : rows()) {
      if (other.row.hook != ordinary) continue;
      EXPECT_EQ(row.row.arguments, other.row.arguments) << row.name;
      EXPECT_EQ(row.row.behaviour, other.row.behaviour) << row.name;
      EXPECT_EQ(row.row.comm, other.row.comm) << row.name;
    }
  }
}

}  // namespace
}  // namespace profshim::mpi
