#include "inject/nccl/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "inject/nccl/version.h"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#define HAS_NCCL_HEADER 1
#include <nccl.h>
#if __has_include(<nccl_device.h>)
#include <nccl_device.h>
#endif
#endif

// Overloads of all functions of the table: their names exist also where the header is older.
namespace fallback {
struct Missing {};
#define HOOK(name, ...) Missing name(Missing);
#include "profshim/hooks/nccl.def"
#undef HOOK
}  // namespace fallback

namespace profshim::nccl {
namespace {

TEST(NcclTable, PlacesAreTheFirstOfTheirRole) {
  const Row& reduce = RowOf<hooks::ncclReduce>::kRow;
  EXPECT_EQ(reduce.position(Role::Count), 2);
  EXPECT_EQ(reduce.position(Role::Type), 3);
  EXPECT_EQ(reduce.position(Role::Op), 4);
  EXPECT_EQ(reduce.position(Role::Root), 5);
  EXPECT_EQ(reduce.position(Role::Comm), 6);
  EXPECT_FALSE(reduce.has(Role::Peer));
  EXPECT_EQ(find_row(hooks::ncclReduce), &reduce);
  EXPECT_EQ(find_row(hooks::MPI_Reduce), nullptr);
}

TEST(NcclVersion, HasTheFormThatPyTorchPrints) {
  EXPECT_STREQ(version_text(22105).text, "2.21.5");
  EXPECT_STREQ(version_text(22809).text, "2.28.9");
  EXPECT_STREQ(version_text(20900).text, "2.9.0");
  EXPECT_STREQ(version_text(2804).text, "2.8.4");
  EXPECT_STREQ(version_text(0).text, "");
  EXPECT_STREQ(version_text(-1).text, "");
}

TEST(NcclTable, EveryLaunchingRowHasACommunicatorAndAStream) {
#define HOOK(name, ...)                                                   \
  {                                                                       \
    constexpr const Row& row = RowOf<hooks::name>::kRow;                  \
    EXPECT_EQ(hook_layer(row.hook), Layer::kNccl) << #name;               \
    if (launches(row.behavior)) {                                         \
      EXPECT_TRUE(row.has(Role::Comm) && row.has(Role::Stream)) << #name; \
    }                                                                     \
    if (makes_communicator(row.behavior)) {                               \
      EXPECT_TRUE(row.has(Role::NewComm)) << #name;                       \
    }                                                                     \
  }
#include "profshim/hooks/nccl.def"
#undef HOOK
}

#ifdef HAS_NCCL_HEADER

template <class Ours, class Theirs>
constexpr bool passed_alike() {
  if constexpr (std::is_pointer_v<Theirs>) {
    return std::is_pointer_v<Ours>;
  } else if constexpr (std::is_class_v<Theirs>) {
    return std::is_class_v<Ours> && sizeof(Ours) == sizeof(Theirs);
  } else {
    return !std::is_pointer_v<Ours> && !std::is_class_v<Ours> && sizeof(Ours) == sizeof(Theirs);
  }
}

template <HookId hook, class... Theirs>
constexpr bool same_signature(ncclResult_t (*)(Theirs...)) {
  if constexpr (sizeof...(Theirs) != RowOf<hook>::kArguments) {
    return false;
  } else {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return (passed_alike<ArgumentType<RowOf<hook>::kRoleOf[i]>, Theirs>() && ...);
    }
    (std::make_index_sequence<sizeof...(Theirs)>());
  }
}

// `&name` has the type of the second argument only if the header has the function, see fallback. The class makes that
// depend on a template parameter.
template <class, HookId hook>
struct Signature {
  template <class... Theirs>
  static std::bool_constant<same_signature<hook>(static_cast<ncclResult_t (*)(Theirs...)>(nullptr))> equal(
      ncclResult_t (*)(Theirs...));
};

using namespace fallback;

TEST(NcclTable, SignaturesEqualThoseOfTheHeader) {
#define HOOK(name, since, ...)                                                                                      \
  []<class Any>(Any) {                                                                                              \
    constexpr bool exists = requires { Signature<Any, hooks::name>::equal(&name); };                                \
    EXPECT_EQ(exists, NCCL_VERSION_CODE >= since) << #name << ": the second column of hooks/nccl.def is " << since; \
    if constexpr (exists) EXPECT_TRUE((decltype(Signature<Any, hooks::name>::equal(&name))::value)) << #name;       \
  }(0);
#include "profshim/hooks/nccl.def"
#undef HOOK
  EXPECT_EQ(sizeof(UniqueId), sizeof(ncclUniqueId));
  EXPECT_EQ(static_cast<int>(ncclSystemError), kSystemError);
  EXPECT_EQ(static_cast<int>(ncclInProgress), kInProgress);
  EXPECT_EQ(static_cast<int>(ncclNumOps), kFirstUserOp);
#if NCCL_VERSION_CODE >= 22700
  EXPECT_EQ(offsetof(Config, net_name), offsetof(ncclConfig_t, netName));
  EXPECT_EQ(offsetof(Config, comm_name), offsetof(ncclConfig_t, commName));
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  Config config;
  static_assert(sizeof theirs >= sizeof config);
  std::memcpy(&config, &theirs, sizeof config);
  EXPECT_EQ(config.magic, kConfigMagic);
  EXPECT_GE(config.size, sizeof config);
#endif
}
#endif

#ifndef PROFSHIM_NCCL_HEADER
#define PROFSHIM_NCCL_HEADER ""
#endif
// Reading nccl.h as text needs no CUDA headers.
std::string header_without_comments() {
  std::ifstream file(PROFSHIM_NCCL_HEADER);
  std::stringstream text;
  text << file.rdbuf();
  static const std::regex comment(R"(/\*[^*]*\*+([^/*][^*]*\*+)*/|//[^\n]*)");
  return std::regex_replace(text.str(), comment, " ");
}

TEST(NcclTable, RowsHaveTheArgumentCountOfTheHeader) {
  const std::string header = header_without_comments();
  if (header.empty()) GTEST_SKIP() << "no nccl.h on this machine";
  const std::map<std::string, std::size_t> arguments_of = {
#define HOOK(name, ...) {#name, RowOf<hooks::name>::kArguments},
#include "profshim/hooks/nccl.def"
#undef HOOK
  };
  const std::regex prototype(R"(\bncclResult_t\s+(nccl[A-Z]\w*)\s*\(([^()]*)\))");
  int compared = 0;
  for (std::sregex_iterator at(header.begin(), header.end(), prototype), end; at != end; ++at) {
    const auto row = arguments_of.find((*at)[1]);
    if (row == arguments_of.end()) continue;
    const std::string list = (*at)[2];
    const bool is_empty = std::regex_match(list, std::regex(R"(\s*(void)?\s*)"));
    const auto commas = static_cast<std::size_t>(std::count(list.begin(), list.end(), ','));
    EXPECT_EQ(row->second, is_empty ? 0 : commas + 1) << row->first << '(' << list << ')';
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(NcclTable, EveryFunctionOfTheHeaderHasARow) {
  std::ifstream file(PROFSHIM_NCCL_HEADER);
  if (!file) GTEST_SKIP() << "no nccl.h on this machine";
  std::stringstream text;
  text << file.rdbuf();
  const std::string header = text.str();
  const std::regex function(R"(\bncclResult_t\s+(nccl[A-Z]\w*)\s*\()");
  const std::regex only_reads("ncclGetVersion|ncclCommGetAsyncError|ncclParam.*");
  std::set<std::string> names;
  for (std::sregex_iterator at(header.begin(), header.end(), function), end; at != end; ++at) names.insert((*at)[1]);
  EXPECT_GT(names.size(), 20U);
  for (const std::string& name : names) {
    if (!std::regex_match(name, only_reads)) {
      EXPECT_EQ(hook_layer(hook_by_name(name)), Layer::kNccl) << name << " has no row";
    }
  }
}

}  // namespace
}  // namespace profshim::nccl
