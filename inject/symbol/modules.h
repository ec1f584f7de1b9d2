#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace profshim::symbol {

struct Module {
  std::string name;  // from the loader, may be relative to an old working folder; "" = program
  std::string path;
  std::uint64_t bias = 0;
  std::uint64_t code_from = 0, code_to = 0;
  std::uint64_t patched = 0;  // address of the last patched function; 0 = none
  bool operator==(const Module& other) const { return name == other.name && bias == other.bias; }
};

std::vector<Module> loaded_modules();

bool is_ours(const Module& module);
/// True for the C library and the loader.
bool is_system(const Module& module);

}  // namespace profshim::symbol
