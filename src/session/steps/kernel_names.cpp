#include "kernel_names.h"

#include <cstring>
#include <exception>

#include "profshim/base/glob.h"
#include "profshim/elf.h"

namespace profshim::session {
namespace {

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::uint64_t hash_of(const char* name) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ull;
  std::size_t length = std::strlen(name);
  std::uint64_t hash = length * kPrime;
  for (; length > 0;) {
    std::uint64_t word = 0;
    const std::size_t n = length < sizeof word ? length : sizeof word;
    std::memcpy(&word, name, n);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
    name += n;
    length -= n;
  }
  return hash;
}

std::string without_parameters(const std::string& name) {
  const std::size_t close = name.rfind(')');
  int depth = 0;
  for (std::size_t i = close == std::string::npos ? 0 : close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return name.substr(0, i);
  }
  return name;
}

}  // namespace

KernelNames::KernelNames(const std::string& pattern) : pattern_(lower_case(pattern)) {}

bool KernelNames::matches_pattern(const char* name) const {
  const std::string readable = lower_case(elf::demangled(name));
  std::string bare = without_parameters(readable);
  // The demangled name of a function template begins with its result type.
  const std::string function = bare.starts_with("void ") ? bare.substr(5) : bare;
  return glob_match(pattern_, lower_case(name)) || glob_match(pattern_, readable) || glob_match(pattern_, function);
}

bool KernelNames::matches(const char* name) {
  if (name == nullptr || *name == 0) return false;
  const std::uint64_t hash = hash_of(name) | 2;
  std::atomic<std::uint64_t>& slot = known_[(hash >> 8) % kSlots];
  const std::uint64_t there = slot.load(std::memory_order_relaxed);
  if ((there | 1) == (hash | 1)) return (there & 1) != 0;
  bool answer = false;
  try {
    answer = matches_pattern(name);
  } catch (const std::exception&) {
    return false;  // no memory
  }
  if (there == 0) slot.store((hash & ~std::uint64_t{1}) | (answer ? 1 : 0), std::memory_order_relaxed);
  return answer;
}

}  // namespace profshim::session
