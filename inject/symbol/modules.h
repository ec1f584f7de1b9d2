// The program and the libraries that the loader has mapped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace profshim::symbol_steps {

struct Module {
  std::string name;  // the loader's name, possibly relative to an earlier working folder; "" = the program
  std::string path;  // file path from /proc/self/maps
  std::uint64_t bias = 0;
  std::uint64_t code_from = 0, code_to = 0;  // readable and executable segment
  std::uint64_t patched = 0;                 // address of a patched function in the module; 0 = none
  bool operator==(const Module& other) const { return name == other.name && bias == other.bias; }
};

std::vector<Module> loaded_modules();

/// Numbers of modules that the loader has loaded and unloaded so far.
struct LoadCounters {
  std::uint64_t loads = 0, unloads = 0;
  bool operator==(const LoadCounters&) const = default;
};
LoadCounters load_counters();

/// Returns true for this library.
bool is_ours(const Module& module);
/// Returns true for the C library and the loader.
bool is_system(const Module& module);

}  // namespace profshim::symbol_steps
