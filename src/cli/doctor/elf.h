// What the doctor reads of an ELF file: who loads it, what it needs, which functions it calls and defines.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::cli::doctor {

struct ElfImage {
  bool readable = false;  // false: no ELF file, or one that is cut; `problem` says which
  std::string problem;
  bool is_64_bit = false;     // nothing below is filled in for a 32-bit file
  std::uint16_t machine = 0;  // EM_X86_64, EM_AARCH64 ...
  std::string interpreter;    // PT_INTERP; "" = static, or a library
  bool dynamic = false;       // has PT_DYNAMIC
  std::vector<std::string> needed;
  std::set<std::string> calls;    // undefined functions of .dynsym
  std::set<std::string> defines;  // functions of .dynsym and .symtab
  bool speaks_nvtx = false;       // holds the name of NVTX's injection variable: its first range loads an injection
  bool holds_cudart = false;      // opens libcuda itself: the CUDA runtime is linked in
};

/// Maps and reads the file. Never trusts a number in it.
ElfImage read_elf(const std::string& path);

/// The files that the program's own loader would map, in its order; "" with a name where one is missing.
struct LoadedFile {
  std::string name, path;
};
/// Asks the program's ld.so (--list), which runs nothing of the program. Empty when it is not a usual ld.so.
std::vector<LoadedFile> loaded_files(const std::string& path, const ElfImage& image);

}  // namespace profshim::cli::doctor
