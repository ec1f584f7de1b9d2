// The modules that the loader has mapped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace profshim::symbol_steps {

struct Module {
  std::string name;  // as the loader knows it, maybe relative to an earlier working folder; "" = the program
  std::string path;  // of the file, as the kernel says
  std::uint64_t bias = 0;
  std::uint64_t code_from = 0, code_to = 0;  // executable and readable
  std::uint64_t patched = 0;                 // an entry in it that we changed; 0 = none
  bool operator==(const Module& other) const { return name == other.name && bias == other.bias; }
};

std::vector<Module> loaded_modules();
void counters(unsigned long long& adds, unsigned long long& subs);
bool is_ours(const Module& module);
bool is_system(const Module& module);

}  // namespace profshim::symbol_steps
