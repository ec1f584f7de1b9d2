#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "profshim/base/process_identity.h"

namespace profshim::test {

inline constexpr std::int64_t kNow = 1'790'000'000'000'000'000;

inline std::string own_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

inline void make_a_day_old(const std::string& file) {
  const timespec day_ago = {time(nullptr) - 86400, 0};
  const timespec times[] = {day_ago, day_ago};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

inline constexpr bool kJustNow = true;
/// Makes the file as a process that has ended, a day ago or just now, would have left it.
inline void end_creator(const std::string& file, bool just_now = false) {
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string own = to_text(own_identity());
  const std::size_t at = text.find(own);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, own.size(), own_host() + " " + std::to_string(getpid()) + " 1");
  std::ofstream(file) << text;
  if (!just_now) make_a_day_old(file);
}

}  // namespace profshim::test
