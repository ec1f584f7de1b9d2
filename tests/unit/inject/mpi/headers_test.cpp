#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "inject/mpi/rows.h"

namespace profshim::mpi {
namespace {

namespace fs = std::filesystem;

struct Parameter {
  std::string text, base;  // base: the type without "const", "struct" and stars
  bool is_pointer = false;
};
using Prototypes = std::map<std::string, std::vector<Parameter>>;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string without_comments(const std::string& text) {
  static const std::regex comment(R"(//[^\n]*|#[^\n]*)");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find("/*", at);
    out += text.substr(at, begin - at) + ' ';
    if (begin == std::string::npos) break;
    const std::size_t end = text.find("*/", begin + 2);
    if (end == std::string::npos) break;
    at = end + 2;
  }
  return std::regex_replace(out, comment, " ");
}

Parameter parameter_of(const std::string& text) {
  Parameter parameter{.text = text, .base = "", .is_pointer = text.find_first_of("*[(") != std::string::npos};
  std::istringstream words(text);
  for (std::string word; words >> word && parameter.base.empty();) {
    word = word.substr(0, word.find_first_of("*[("));
    if (word != "const" && word != "struct") parameter.base = word;
  }
  return parameter;
}

std::vector<Parameter> parameters_of(const std::string& text) {
  std::vector<Parameter> parameters;
  int depth = 0;
  std::string one;
  const auto add = [&] {
    const Parameter parameter = parameter_of(one);
    if (!(parameter.base.empty() || (parameter.base == "void" && !parameter.is_pointer))) {
      parameters.push_back(parameter);
    }
    one.clear();
  };
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0) {
      add();
    } else {
      one += c;
    }
  }
  add();
  return parameters;
}

Prototypes prototypes_in(const fs::path& folder) {
  std::string text;
  for (const char* const name : {"mpi.h", "mpi_proto.h"}) text += without_comments(text_of(folder / name));
  static const std::regex begin(R"(\b(?:int|double|MPI_Aint)\s+(MPIX?_[A-Z]\w*)\s*\()");
  Prototypes found;
  for (std::sregex_iterator at(text.begin(), text.end(), begin), end; at != end; ++at) {
    const auto open = static_cast<std::size_t>(at->position() + at->length());
    std::size_t close = open;
    for (int depth = 1; close < text.size(); ++close) {
      depth += (text[close] == '(') - (text[close] == ')');
      if (depth == 0) break;
    }
    found.emplace((*at)[1], parameters_of(text.substr(open, close - open)));
  }
  return found;
}

bool is_wide(const std::string& base) { return base == "MPI_Aint" || base == "MPI_Offset" || base == "MPI_Count"; }

bool suits(Role role, const Parameter& p) {
  const auto number = [&p](const char* type) { return !p.is_pointer && p.base == type; };
  const auto pointer = [&p](const char* type) { return p.is_pointer && p.base == type; };
  switch (role) {
    case Role::Ptr:
      return p.is_pointer;
    case Role::Text:
      return pointer("char");
    case Role::SBuf:
    case Role::RBuf:
      return pointer("void");
    case Role::Int:
    case Role::Count:
    case Role::RCount:
    case Role::Partitions:
    case Role::Root:
    case Role::Dest:
    case Role::Source:
    case Role::Target:
    case Role::RSource:
    case Role::Tag:
    case Role::RTag:
      return number("int");
    case Role::Wide:
      return !p.is_pointer && is_wide(p.base);
    case Role::CountW:
    case Role::RCountW:
      return number("MPI_Count");
    case Role::Opaque:
      return !p.is_pointer && p.base.starts_with("MPI_") && !is_wide(p.base);
    case Role::Counts:
    case Role::RCounts:
    case Role::Flag:
      return pointer("int");
    case Role::Message:
      return pointer("MPI_Message");
    case Role::CountsW:
    case Role::RCountsW:
      return pointer("MPI_Count");
    case Role::Type:
    case Role::RType:
      return number("MPI_Datatype");
    case Role::Types:
    case Role::RTypes:
      return pointer("MPI_Datatype");
    case Role::Op:
      return number("MPI_Op");
    case Role::Comm:
      return number("MPI_Comm");
    case Role::NewComm:
    case Role::OldComm:
      return pointer("MPI_Comm");
    case Role::Request:
      return pointer("MPI_Request");
    case Role::Status:
    case Role::Statuses:
      return pointer("MPI_Status");
  }
  return false;
}

struct NamedRoles {
  std::string name;
  std::vector<Role> roles;
};
const std::vector<NamedRoles>& rows() {
  static const std::vector<NamedRoles> all = {
#define HOOK(name, ...) {#name, {RowOf<hooks::name>::kRoles.begin(), RowOf<hooks::name>::kRoles.end()}},
#include "profshim/hooks/mpi.def"
#undef HOOK
  };
  return all;
}

std::string fault_of(const NamedRoles& row, const std::vector<Parameter>& prototype) {
  if (row.roles.size() != prototype.size()) {
    return "the row has " + std::to_string(row.roles.size()) + " arguments, mpi.h " + std::to_string(prototype.size());
  }
  for (std::size_t i = 0; i < prototype.size(); ++i) {
    if (!suits(row.roles[i], prototype[i])) return "argument " + std::to_string(i + 1) + " is" + prototype[i].text;
  }
  return "";
}

class MpiHeaders : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(std::string("/usr/bin/mpicc.") + GetParam())) GTEST_SKIP() << "there is no mpicc." << GetParam();
    prototypes_ = prototypes_in(folder());
    ASSERT_GT(prototypes_.size(), 300u) << "functions of mpi.h in " << folder();
  }
  static fs::path folder() {
    const fs::path in_folder = fs::path(GetParam()) / "include";
    for (const auto& machine : fs::directory_iterator("/usr/lib")) {
      if (fs::exists(machine.path() / in_folder / "mpi.h")) return machine.path() / in_folder;
    }
    return "no folder";
  }
  void each_row(const std::function<void(const NamedRoles&, const std::vector<Parameter>&)>& visit) const {
    std::size_t compared = 0;
    for (const NamedRoles& row : rows()) {
      const auto prototype = prototypes_.find(row.name);
      if (prototype == prototypes_.end()) continue;
      ++compared;
      visit(row, prototype->second);
    }
    EXPECT_GT(compared, 150u);
  }

 private:
  Prototypes prototypes_;
};

TEST_P(MpiHeaders, HaveTheArgumentsOfEveryRow) {
  each_row([](const NamedRoles& row, const std::vector<Parameter>& prototype) {
    EXPECT_EQ(fault_of(row, prototype), "") << row.name;
  });
}

TEST_P(MpiHeaders, ShowThatARowLacksAnArgument) {
  each_row([](const NamedRoles& row, const std::vector<Parameter>& prototype) {
    for (std::size_t i = 0; i < row.roles.size(); ++i) {
      NamedRoles without = row;
      without.roles.erase(without.roles.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NE(fault_of(without, prototype), "") << row.name << " without argument " << i + 1;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Mpis, MpiHeaders, ::testing::Values("openmpi", "mpich"),
                         [](const auto& mpi) { return std::string(mpi.param); });

}  // namespace
}  // namespace profshim::mpi
