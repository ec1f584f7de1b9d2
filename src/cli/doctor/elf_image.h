#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace profshim::cli::doctor {

struct ElfImage {
  bool readable = false;
  std::string problem;
  bool is_64_bit = false;  // if false, or big-endian: nothing below is set
  std::uint16_t machine = 0;
  std::string interpreter;  // PT_INTERP; "" = static, or a library
  bool dynamic = false;
  std::vector<std::string> needed;
  std::set<std::string> calls;  // undefined symbols
  std::set<std::string> defines;
  bool uses_nvtx = false;     // contains the name of NVTX's injection variable
  bool holds_cudart = false;  // contains strings of a static CUDA runtime
};

ElfImage read_elf(const std::string& path);

struct LoadedFile {
  std::string name, path;
};
/// Uses ld.so --list, which runs no code of the program. The result is empty if the loader is not glibc's.
std::vector<LoadedFile> loaded_files(const std::string& path, const ElfImage& image);

}  // namespace profshim::cli::doctor
