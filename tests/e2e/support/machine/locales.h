// The locales that tests/apps_locale/rules.mk compiles.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace profshim::e2e {

/// Variables for a program that calls setlocale(LC_ALL, ""). The second is enough for one that names a locale.
std::vector<std::pair<std::string, std::string>> in_locale(const std::string& name);

/// Returns the path of a library for LD_PRELOAD that calls setlocale(LC_ALL, "").
std::string set_locale_library();

inline constexpr const char* kOtherLocales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "fr_FR.ISO-8859-1", "hi_IN.UTF-8",
                                                "tr_TR.UTF-8"};

}  // namespace profshim::e2e
