// Reads an ELF file for the doctor: its interpreter, the libraries it needs, the functions it calls and defines.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::cli::doctor {

struct ElfImage {
  bool readable = false;  // false: not an ELF file, or truncated; `problem` says which
  std::string problem;
  bool is_64_bit = false;     // nothing below is filled in for a 32-bit file
  std::uint16_t machine = 0;  // EM_X86_64, EM_AARCH64 ...
  std::string interpreter;    // PT_INTERP; "" = static, or a library
  bool dynamic = false;       // has PT_DYNAMIC
  std::vector<std::string> needed;
  std::set<std::string> calls;    // undefined functions of .dynsym
  std::set<std::string> defines;  // functions of .dynsym and .symtab
  bool uses_nvtx = false;         // contains the name of NVTX's injection variable: its first range loads the injection
  bool holds_cudart = false;      // opens libcuda itself: the CUDA runtime is linked in
};

/// Maps and reads the file. Checks every offset and size in it.
ElfImage read_elf(const std::string& path);

/// A library that the program's loader would map.
struct LoadedFile {
  std::string name, path;  // path: "" = not found
};
/// Runs the program's ld.so with --list, which runs no code of the program. Returns the libraries in load order; empty
/// if the loader is not glibc's.
std::vector<LoadedFile> loaded_files(const std::string& path, const ElfImage& image);

}  // namespace profshim::cli::doctor
