#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>

#include "profshim/base/glob.h"
#include "profshim/base/text/ascii.h"
#include "profshim/base/text/message_text.h"
#include "profshim/elf.h"

/// Never allocates. Only the static libstdc++ exports this function.
extern "C" __attribute__((weak)) int __gcclibcxx_demangle_callback(const char* mangled,
                                                                   void (*part)(const char*, std::size_t, void*),
                                                                   void* opaque);

namespace profshim::elf {
namespace {

// Back references let 300 characters demangle to gigabytes. The demangler holds no resources: an exception may pass
// through.
constexpr std::size_t kMaxDemangled = 64 << 10;
struct TooLong {};
void append_part(const char* part, std::size_t size, void* opaque) {
  std::string& text = *static_cast<std::string*>(opaque);
  if (text.size() + size > kMaxDemangled) throw TooLong{};
  text.append(part, size);
}

bool is_identifier(char c) { return ascii::is_alphanumeric(c) || c == '_'; }

// Words of demangled names that the mangled names lack: keywords that the ABI encodes as letters, its abbreviations for
// namespace std, and the demangler's own words. https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
constexpr std::string_view kNotInMangledNames[] = {
    "allocator",     "anonymous",    "auto",     "basic_iostream", "basic_istream",
    "basic_ostream", "basic_string", "bool",     "char",           "char16_t",
    "char32_t",      "char8_t",      "clone",    "co_await",       "complex",
    "const",         "decltype",     "default",  "delete",         "double",
    "false",         "float",        "function", "imaginary",      "int",
    "iostream",      "istream",      "lambda",   "long",           "namespace",
    "new",           "non",          "nullptr",  "operator",       "ostream",
    "parameter",     "restrict",     "short",    "signed",         "std",
    "string",        "thunk",        "to",       "true",           "type",
    "unnamed",       "unsigned",     "virtual",  "void",           "volatile",
    "wchar_t"};

bool is_in_mangled_names(std::string_view word) {
  const bool is_number = !word.empty() && ascii::is_digit(word.front());
  return !is_number && word.substr(0, 2) != "__" &&
         std::find(std::begin(kNotInMangledNames), std::end(kNotInMangledNames), word) == std::end(kNotInMangledNames);
}

/// Returns the longest word that the mangled names of all matching functions contain; may be empty.
std::string longest_identifier(std::string_view pattern) {
  std::string_view best;
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] == '[') {
      i = std::min(pattern.find(']', i), pattern.size() - 1) + 1;
      continue;
    }
    std::size_t end = i;
    while (end < pattern.size() && is_identifier(pattern[end])) ++end;
    const std::string_view word = pattern.substr(i, end - i);
    if (word.size() > best.size() && is_in_mangled_names(word)) best = word;
    i = std::max(end, i + 1);
  }
  return std::string(best);
}

std::string_view without_parameters(std::string_view name) {
  const std::size_t close = name.rfind(')');
  if (close == std::string_view::npos) return name;
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return name.substr(0, i);
  }
  return name;
}

Candidate examine(const File& file, const std::string& path, const Function& function) {
  Candidate candidate{demangled(function.name), path, "", false};
  if (!file.x86_64()) {
    candidate.reason = "steps.source = \"symbol\" works on x86-64 only";
  } else if (function.ifunc) {
    candidate.reason = "the running process chooses its implementation (IFUNC)";
  } else if (function.size == 0) {
    candidate.reason = "its symbol has no size";
  } else {
    std::vector<Code> parts;
    for (const Function* part : cold_parts(file.functions(), function)) parts.push_back(file.code_of(*part));
    const Code code = file.code_of(function);
    candidate.reason =
        code.bytes == nullptr ? "its code is not in the file" : examine_entry(code, parts, kNearJump).refusal;
  }
  candidate.hookable = candidate.reason.empty();
  return candidate;
}

}  // namespace

std::string demangled(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  if (__gcclibcxx_demangle_callback != nullptr) {
    std::string text;
    try {
      return __gcclibcxx_demangle_callback(name.c_str(), &append_part, &text) == 0 ? text : name;
    } catch (const TooLong&) {
      return name;
    }
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

SymbolPattern::SymbolPattern(std::string pattern)
    : pattern_(std::move(pattern)),
      literal_(longest_identifier(without_parameters(pattern_))),
      exact_(pattern_.find_first_of("*?[") == std::string::npos) {}

bool SymbolPattern::matches(const std::string& name) const {
  if (glob_match(pattern_, name)) return true;
  // Demangling is slow: skip names without literal_.
  if (name.compare(0, 2, "_Z") != 0) return false;
  if (name.find(literal_) == std::string::npos) return false;
  const std::string readable = demangled(name);
  return glob_match(pattern_, readable) || glob_match(pattern_, without_parameters(readable));
}

std::vector<Candidate> examine_file(const std::string& path, const std::string& pattern) {
  File file;
  std::string error;
  if (!file.open(path, error)) return {Candidate{pattern, path, error, false}};
  const SymbolPattern wanted(pattern);
  std::vector<Candidate> candidates;
  std::set<std::uint64_t> seen;
  for (const Function& function : file.functions()) {
    if (function.name.find(".cold") != std::string::npos || !wanted.matches(function.name)) continue;
    if (seen.insert(function.value).second) candidates.push_back(examine(file, path, function));
  }
  return candidates;
}

std::vector<std::string> nearest_names(const std::vector<std::string>& paths, const std::string& pattern) {
  std::set<std::string> names;
  for (const std::string& path : paths) {
    File file;
    std::string error;
    if (!file.open(path, error)) continue;
    for (const Function& function : file.functions()) {
      const std::string readable = demangled(function.name);
      names.emplace(without_parameters(readable));
    }
  }
  std::vector<std::string_view> candidates(names.begin(), names.end());
  std::vector<std::string> found;
  while (found.size() < 3) {
    const std::string_view best = nearest(pattern, candidates);
    if (best.empty()) break;
    found.emplace_back(best);
    candidates.erase(std::find(candidates.begin(), candidates.end(), best));
  }
  return found;
}

}  // namespace profshim::elf
