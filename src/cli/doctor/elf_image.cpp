#include "elf_image.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace profshim::cli::doctor {
namespace {

class Bytes {
 public:
  explicit Bytes(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status {};
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      void* const data = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (data != MAP_FAILED) data_ = static_cast<const char*>(data), size_ = static_cast<std::size_t>(status.st_size);
    }
    close(fd);
  }
  ~Bytes() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  bool empty() const { return data_ == nullptr; }
  template <class T>
  bool read(std::uint64_t at, T& out) const {
    if (at > size_ || size_ - at < sizeof(T)) return false;
    std::memcpy(&out, data_ + at, sizeof(T));
    return true;
  }
  std::string text(std::uint64_t at) const {
    if (at >= size_) return "";
    return std::string(data_ + at, strnlen(data_ + at, size_ - at));
  }
  bool holds(std::string_view text) const { return memmem(data_, size_, text.data(), text.size()) != nullptr; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Table {
  Elf64_Shdr section{}, strings{};
  bool found = false;
};

Table find_table(const Bytes& bytes, const Elf64_Ehdr& header, std::uint32_t type) {
  Table table;
  for (std::uint64_t i = 0; i < header.e_shnum && !table.found; ++i) {
    if (!bytes.read(header.e_shoff + i * sizeof(Elf64_Shdr), table.section)) break;
    table.found = table.section.sh_type == type && table.section.sh_link < header.e_shnum &&
                  bytes.read(header.e_shoff + table.section.sh_link * sizeof(Elf64_Shdr), table.strings);
  }
  return table;
}

void read_functions(const Bytes& bytes, const Table& table, ElfImage& image) {
  if (!table.found) return;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.section.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!bytes.read(table.section.sh_offset + at, symbol)) return;
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_name == 0 || (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC)) continue;
    const std::string name = bytes.text(table.strings.sh_offset + symbol.st_name);
    (symbol.st_shndx == SHN_UNDEF ? image.calls : image.defines).insert(name);
  }
}

void read_needed(const Bytes& bytes, const Table& table, ElfImage& image) {
  if (!table.found) return;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table.section.sh_size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!bytes.read(table.section.sh_offset + at, entry) || entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_NEEDED) image.needed.push_back(bytes.text(table.strings.sh_offset + entry.d_un.d_val));
  }
}

std::string output_of_list(std::string interpreter, std::string program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::string list = "--list";
  char* arguments[] = {interpreter.data(), list.data(), program.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, interpreter.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string out;
  char buffer[4096];
  for (ssize_t got; error == 0 && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  if (error == 0) waitpid(pid, nullptr, 0);
  return out;
}

}  // namespace

ElfImage read_elf(const std::string& path) {
  ElfImage image;
  const Bytes bytes(path);
  unsigned char ident[EI_NIDENT] = {};
  if (bytes.empty() || !bytes.read(0, ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
    image.problem = bytes.empty() ? "cannot be read" : "not an ELF file";
    return image;
  }
  Elf64_Ehdr header;
  image.is_64_bit = ident[EI_CLASS] == ELFCLASS64;
  if (!image.is_64_bit || ident[EI_DATA] != ELFDATA2LSB) {
    image.readable = true;
    return image;
  }
  if (!bytes.read(0, header)) {
    image.problem = "a truncated ELF file";
    return image;
  }
  image.readable = true;
  image.machine = header.e_machine;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!bytes.read(header.e_phoff + i * sizeof(Elf64_Phdr), segment)) break;
    if (segment.p_type == PT_INTERP) image.interpreter = bytes.text(segment.p_offset);
    if (segment.p_type == PT_DYNAMIC) image.dynamic = true;
  }
  read_functions(bytes, find_table(bytes, header, SHT_DYNSYM), image);
  read_functions(bytes, find_table(bytes, header, SHT_SYMTAB), image);
  read_needed(bytes, find_table(bytes, header, SHT_DYNAMIC), image);
  image.uses_nvtx = bytes.holds("NVTX_INJECTION64_PATH");
  image.holds_cudart = bytes.holds("libcuda.so.1") && bytes.holds("cudart");
  return image;
}

std::vector<LoadedFile> loaded_files(const std::string& path, const ElfImage& image) {
  std::vector<LoadedFile> files;
  const std::string loader = image.interpreter.substr(image.interpreter.rfind('/') + 1);
  if (loader.rfind("ld-linux", 0) != 0 && loader.rfind("ld64.so", 0) != 0) return files;

  // Lines: "\tlibmpi.so.40 => /my libs/libmpi.so.40 (0x...)", "\tlibx.so => not found" or, for a library that is named
  // by path, "\t/opt/libx.so (0x...)".
  constexpr std::string_view kArrow = " => ";
  std::istringstream lines(output_of_list(image.interpreter, path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '\t') continue;
    const std::size_t arrow = line.find(kArrow), address = line.rfind(" (0x");
    const std::size_t end = address == std::string::npos ? line.size() : address;
    const std::size_t from = arrow == std::string::npos ? 1 : arrow + kArrow.size();
    const std::string target = line.substr(from, end - std::min(from, end));
    const std::string name = arrow == std::string::npos ? target : line.substr(1, arrow - 1);
    if (target.starts_with('/')) {
      files.push_back({name, target});
    } else if (arrow != std::string::npos) {
      files.push_back({name, ""});
    }
  }
  return files;
}

}  // namespace profshim::cli::doctor
