#include "locales.h"

#include <filesystem>

#include "e2e/support/built_programs.h"

namespace profshim::e2e {

std::vector<std::pair<std::string, std::string>> in_locale(const std::string& name) {
  const std::filesystem::path files = built("tests/locales/" + name + "/LC_NUMERIC");
  return {{"LC_ALL", name}, {"LOCPATH", files.parent_path().parent_path()}};
}

std::string set_locale_library() { return built("tests/apps_locale/set_locale.so"); }

}  // namespace profshim::e2e
