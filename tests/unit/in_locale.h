#pragma once

#include <gtest/gtest.h>
#include <locale.h>
#include <stdlib.h>

#include <string>

namespace profshim::test {

/// Puts the process or the calling thread into a locale of tests/apps_locale/rules.mk until the end of the scope.
class InLocale {
 public:
  enum class Whose { kProcess, kThread };
  InLocale(const std::string& name, Whose whose = Whose::kProcess) {
    setenv("LOCPATH", PROFSHIM_SOURCE_DIR "/build/tests/locales", 1);
    if (whose == Whose::kProcess) {
      EXPECT_NE(setlocale(LC_ALL, name.c_str()), nullptr) << name << " is not built: make test-apps";
    } else {
      of_thread_ = newlocale(LC_ALL_MASK, name.c_str(), nullptr);
      EXPECT_NE(of_thread_, nullptr) << name << " is not built: make test-apps";
      before_ = uselocale(of_thread_);
    }
  }
  ~InLocale() {
    if (of_thread_ != nullptr) {
      uselocale(before_);
      freelocale(of_thread_);
    }
    setlocale(LC_ALL, of_process_.c_str());
  }
  InLocale(const InLocale&) = delete;
  InLocale& operator=(const InLocale&) = delete;

 private:
  const std::string of_process_ = setlocale(LC_ALL, nullptr);
  locale_t of_thread_ = nullptr, before_ = nullptr;
};

inline constexpr const char* kLocales[] = {"C",           "de_DE.UTF-8", "fr_FR.UTF-8", "fr_FR.ISO-8859-1",
                                           "hi_IN.UTF-8", "tr_TR.UTF-8"};

}  // namespace profshim::test
