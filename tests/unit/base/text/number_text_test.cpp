#include "profshim/base/text/number_text.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <strings.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "profshim/base/text/ascii.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"
#include "profshim/spec.h"
#include "trace/read/numbers.h"
#include "unit/in_locale.h"
#include "unit/not_under_tsan.h"

namespace profshim {
namespace {

using test::InLocale;

std::string printed(const char* format, int precision, double value) {
  char text[400];
  std::snprintf(text, sizeof text, format, precision, value);
  return text;
}

TEST(NumberText, EqualsPrintfInTheCLocale) {
  const InLocale locale("C");
  std::mt19937_64 random(1);
  std::vector<double> values = {0, -0.0, 1, -1, 0.5, 1.5, 2.5, 9.995, 99.95, 1e15, 1e17, 1e300, -1e-300, 5e-324};
  for (const double special : {std::numeric_limits<double>::max(), HUGE_VAL, -HUGE_VAL, std::nan("")})
    values.push_back(special);
  for (int i = 0; i < 20'000; ++i) values.push_back(std::bit_cast<double>(random()));
  for (int i = 0; i < 20'000; ++i) values.push_back(std::ldexp(static_cast<double>(random() % 100'000'000), -(i % 40)));

  for (std::size_t i = 0; i < values.size(); ++i) {
    const int precision = static_cast<int>(i % 18);
    ASSERT_EQ(fixed_text(values[i], precision), printed("%.*f", precision, values[i]));
    ASSERT_EQ(rounded_text(values[i], precision), printed("%.*g", precision, values[i]));
    if (std::isfinite(values[i])) {
      ASSERT_EQ(std::strtod(exact_text(values[i]).c_str(), nullptr), values[i]);
    }
  }
}

TEST(NumberText, ReadsWholeTextsOnly) {
  int number = 7;
  EXPECT_FALSE(parse_number("", number));
  EXPECT_FALSE(parse_number("1 ", number));
  EXPECT_FALSE(parse_number(" 1", number));
  EXPECT_FALSE(parse_number("12345678901", number));
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(parse_number("-12", number));
  EXPECT_EQ(number, -12);
  std::uint64_t id = 0;
  EXPECT_TRUE(parse_number("00ff", id, 16));
  EXPECT_EQ(id, 255u);
  EXPECT_EQ(leading_number<int>("12 next"), 12);
  EXPECT_EQ(leading_number<int>("next"), 0);
}

TEST(NumberText, NumbersInTheEnvironmentMayFollowBlanksAndAPlusSign) {
  const auto number = [](const char* value) {
    setenv("NUMBER", value, 1);
    return number_in_environment("NUMBER");
  };
  EXPECT_EQ(number("0"), 0);
  EXPECT_EQ(number(" \t+12"), 12);
  EXPECT_EQ(number("2147483647"), 2147483647);
  for (const char* const wrong : {"", " ", "-1", "+", "2147483648", "1x", "1 ", "0x10", "1.5"})
    EXPECT_EQ(number(wrong), -1) << wrong;
  unsetenv("NUMBER");
  EXPECT_EQ(number_in_environment("NUMBER"), -1);
  EXPECT_EQ(number_in_environment(nullptr), -1);
}

void expect_same_texts() {
  EXPECT_EQ(fixed_text(-1234567.5, 3), "-1234567.500");
  EXPECT_EQ(rounded_text(2.59612, 6), "2.59612");
  EXPECT_EQ(exact_text(0.1), "0.1");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.open_list().value(1234567.25).value(1234567).decimal(0.5, 2).close_list();
  EXPECT_EQ(json.text(), "[1234567.25,1234567,0.50]");

  double value = 0;
  EXPECT_TRUE(parse_number("1234.5", value));
  EXPECT_EQ(value, 1234.5);
  EXPECT_FALSE(parse_number("1234,5", value));
  bool finer = false;
  EXPECT_EQ(trace_detail::to_ns("1.5e3", finer), 1'500'000);
  const LoadedSpec loaded = load_spec_text("version = 1\n[limits]\nwindow_seconds = 1234.5\n", "spec");
  EXPECT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.spec.limits.window_seconds, 1234.5);

  EXPECT_TRUE(ascii::equal_words("INFINITE", "infinite"));
  EXPECT_FALSE(ascii::equal_words("\xdd", "i"));
  EXPECT_FALSE(ascii::is_alphanumeric('\xe9'));
  EXPECT_STREQ(error_text(EIO), "Input/output error");
}

TEST(NumberText, IsTheSameInEveryLocale) {
  for (const std::string name : test::kLocales) {
    SCOPED_TRACE(name);
    const InLocale locale(name);
    expect_same_texts();
  }
  for (const std::string name : test::kLocales) {
    SCOPED_TRACE("thread in " + name);
    const InLocale locale(name, InLocale::Whose::kThread);
    expect_same_texts();
  }
}

// Guards the test above: a locale without a decimal comma, grouping or dotless i would prove nothing.
TEST(NumberText, TheLocalesOfTheTestsDiffer) {
  NOT_UNDER_TSAN("its strcasecmp() ignores the locale");
  const auto grouped = [](const char* name) {
    const InLocale locale(name);
    char text[64];
    std::snprintf(text, sizeof text, "%'.1f", 12345678.5);
    return std::string(text);
  };
  EXPECT_EQ(grouped("de_DE.UTF-8"), "12.345.678,5");
  EXPECT_EQ(grouped("fr_FR.UTF-8"), "12\u202f345\u202f678,5");
  EXPECT_NE(grouped("hi_IN.UTF-8"), grouped("C")) << "its groups depend on the release of glibc";
  const InLocale turkish("tr_TR.UTF-8");
  EXPECT_NE(strcasecmp("INFINITE", "infinite"), 0);
}

TEST(ErrorText, IsEnglishInEveryLocale) {
  for (const std::string name : test::kLocales) {
    SCOPED_TRACE(name);
    const InLocale locale(name);
    EXPECT_STREQ(error_text(ENOENT), "No such file or directory");
    EXPECT_EQ(loader_error_text(), "");
    EXPECT_EQ(dlopen("/none.so", RTLD_NOW), nullptr);
    EXPECT_EQ(loader_error_text(), "/none.so: cannot open shared object file: No such file or directory");
  }
}

}  // namespace
}  // namespace profshim
