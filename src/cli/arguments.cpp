#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "command.h"
#include "profshim/base/text/ascii.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"

namespace profshim::cli {

struct Arguments::Parser {
  Parser(const char* about, const char* name) : command(name), app(about, std::string("profshim ") + name) {}
  std::string command;
  CLI::App app;
  std::vector<std::vector<std::string>> exclusive;
};

namespace {

CLI::Option& option_of(void* option) { return *static_cast<CLI::Option*>(option); }

std::string number_text(double value) { return rounded_text(value, 15); }

std::optional<double> number_in(std::string_view text, bool is_whole) {
  const std::string_view digits = text.substr(text.find_first_not_of("+-") == 1 ? 1 : 0);
  if (is_whole && digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
  double value = 0;
  if (!parse_number(text.starts_with('+') ? digits : text, value) || !std::isfinite(value)) return {};
  return value;
}

void check_kind(CLI::Option& option, bool is_whole, double most) {
  option.check([=](const std::string& text) -> std::string {
    const std::optional<double> value = number_in(text, is_whole);
    if (!value) return "\"" + printable(text) + "\" is not a " + (is_whole ? "whole number" : "number");
    return std::abs(*value) > most ? text + " is too large" : std::string();
  });
}

void check_bounds(CLI::Option& option, double least, double most) {
  option.check([=](const std::string& text) -> std::string {
    const std::optional<double> value = number_in(text, false);
    if (!value || (*value >= least && *value <= most)) return {};
    if (std::isinf(most)) return text + " is less than " + number_text(least);
    return text + " is not between " + number_text(least) + " and " + number_text(most);
  });
}

template <typename T>
CLI::Option& add_number(CLI::App& app, const char* names, T& value, const char* help) {
  // A double holds every whole number up to 2^53.
  constexpr bool kIsWhole = std::numeric_limits<T>::is_integer;
  // CLI11's own conversion to a floating-point number follows the locale.
  const auto store = [&value](const std::string& text) { value = static_cast<T>(*number_in(text, kIsWhole)); };
  CLI::Option& option = *app.add_option_function<std::string>(names, store, help);
  option.type_name("N");
  check_kind(option, kIsWhole,
             std::min(static_cast<double>(std::numeric_limits<T>::max()), kIsWhole ? 0x1p53 : HUGE_VAL));
  return option;
}

}  // namespace

Arguments::Argument& Arguments::Argument::required() {
  option_of(option_).required();
  return *this;
}

Arguments::Argument& Arguments::Argument::shown_as(const char* placeholder) {
  option_of(option_).type_name(placeholder);
  return *this;
}

Arguments::Argument& Arguments::Argument::range(double least, double most) {
  check_bounds(option_of(option_), least, most);
  return *this;
}

Arguments::Argument& Arguments::Argument::one_of(std::vector<std::string> texts) {
  CLI::Validator validator;
  validator.operation([texts = std::move(texts)](std::string& given) -> std::string {
    std::string all;
    for (const std::string& text : texts) {
      if (ascii::equal_words(text, given)) {
        given = text;
        return {};
      }
      all += (all.empty() ? "" : ", ") + text;
    }
    return "\"" + printable(given) + "\" is not one of " + all;
  });
  option_of(option_).transform(std::move(validator));
  return *this;
}

Arguments::Arguments(const char* command, const char* about) : parser_(std::make_unique<Parser>(about, command)) {}
Arguments::~Arguments() = default;

Arguments::Argument Arguments::add(const char* names, bool& value, const char* help) {
  return Argument(parser_->app.add_flag(names, value, help));
}

Arguments::Argument Arguments::add(const char* names, std::string& value, const char* help) {
  return Argument(parser_->app.add_option(names, value, help));
}

Arguments::Argument Arguments::add(const char* names, std::vector<std::string>& values, const char* help) {
  CLI::Option* const option = parser_->app.add_option(names, values, help);
  // Otherwise `--base a b` takes b, although b may be a positional argument.
  if (names[0] == '-') option->expected(1)->allow_extra_args(false)->take_all();
  return Argument(option);
}

Arguments::Argument Arguments::add(const char* names, int& value, const char* help) {
  return Argument(&add_number(parser_->app, names, value, help));
}

Arguments::Argument Arguments::add(const char* names, std::int64_t& value, const char* help) {
  return Argument(&add_number(parser_->app, names, value, help));
}

Arguments::Argument Arguments::add(const char* names, double& value, const char* help) {
  return Argument(&add_number(parser_->app, names, value, help));
}

void Arguments::exclusive(std::initializer_list<const char*> names) {
  parser_->exclusive.emplace_back(names.begin(), names.end());
}

void Arguments::footer(const std::string& text) { parser_->app.footer(text); }

bool Arguments::parse(int argc, char** argv, int& status) {
  std::string problem;
  try {
    parser_->app.parse(argc, argv);
    for (const std::vector<std::string>& group : parser_->exclusive) {
      std::string first;
      for (const std::string& name : group) {
        if (parser_->app.count(name) == 0) continue;
        if (!first.empty() && problem.empty()) problem = first + " and " + name + " exclude each other";
        if (first.empty()) first = name;
      }
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      status = parser_->app.exit(error);
      return false;
    }
    problem = error.what();
  }
  if (problem.empty()) return true;
  const char* const command = parser_->command.c_str();
  std::fprintf(stderr, "profshim %s: %s; `profshim %s --help` lists the options\n", command, problem.c_str(), command);
  status = kFailure;
  return false;
}

bool Arguments::given(const char* name) const { return parser_->app.count(name) > 0; }

}  // namespace profshim::cli
