#include "profshim/base/command_line.h"

#include "proc_text.h"
#include "profshim/base/files.h"
#include "secrets.h"

namespace profshim {

std::vector<std::string> process_arguments() { return read_proc_texts("/proc/self/cmdline"); }

std::string command_line() {
  std::string text;
  int error = 0;
  if (!read_file("/proc/self/cmdline", text, error)) return {};
  while (!text.empty() && text.back() == 0) text.pop_back();
  for (char& c : text) {
    if (c == 0) c = ' ';
  }
  return text;
}

std::string program_name() { return program_name_of(process_arguments()); }

namespace {

constexpr std::string_view kRay = "ray::";

// Ray titles its workers "ray::Class.method" or "ray::function".
std::string class_in(const std::string& title) {
  return title.substr(kRay.size(), title.find_first_of(".(", kRay.size()) - kRay.size());
}

}  // namespace

std::string role_of_title(const std::vector<std::string>& arguments) {
  if (arguments.empty() || !arguments[0].starts_with(kRay)) return {};
  const std::string role = class_in(arguments[0]);
  return role == "IDLE" ? std::string{} : role;
}

std::string program_name_of(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].empty()) return "program";
  const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (arguments[0].starts_with(kRay)) {
    const std::string actor = class_in(arguments[0]);
    return actor.empty() ? "ray" : actor;
  }
  const std::string first = base(arguments[0]);
  const bool is_interpreter =
      first.starts_with("python") || first == "bash" || first == "sh" || first.starts_with("perl");
  for (std::size_t i = 1; is_interpreter && i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-c" || argument == "-e") break;
    if (argument == "-m" && i + 1 < arguments.size()) return arguments[i + 1];
    if (argument.empty() || argument[0] == '-') continue;
    const std::string script = base(argument);
    const std::size_t dot = script.rfind('.');
    return dot == std::string::npos || dot == 0 ? script : script.substr(0, dot);
  }
  return first;
}

std::string shown_command_line(const std::vector<std::string>& arguments, bool all) {
  std::string shown;
  SecretMasker masker;
  for (std::size_t i = 0; i < arguments.size() && (all || i == 0); ++i) {
    shown += (i > 0 ? " " : "") + masker.mask(arguments[i]);
  }
  return shown;
}

}  // namespace profshim
