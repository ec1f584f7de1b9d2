#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profshim/base/text/message_text.h"
#include "profshim/elf.h"

namespace profshim::elf {
namespace {

/// Returns null if an object lies outside the file. Use load(), since objects may be unaligned.
template <class T>
const std::uint8_t* within(const std::uint8_t* data, std::size_t size, std::uint64_t offset, std::uint64_t count) {
  if (offset > size || count > (size - offset) / sizeof(T)) return nullptr;
  return data + offset;
}

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

bool File::open(const std::string& path, std::string& error) {
  if (!map(path, error)) return false;
  for_each_function([this](const Symbol& symbol) {
    functions_.push_back(
        {std::string(symbol.name), symbol.value, symbol.size, symbol.file_offset, symbol.ifunc, symbol.exported});
  });
  return true;
}

bool File::map(const std::string& path, std::string& error) {
  // Opening a FIFO must not wait.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) {
    error = error_text(errno);
    if (fd >= 0) close(fd);
    return false;
  }
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) < sizeof(Elf64_Ehdr)) {
    close(fd);
    error = "not an ELF file";
    return false;
  }
  size_ = static_cast<std::size_t>(status.st_size);
  void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) {
    error = error_text(errno);
    return false;
  }
  data_ = static_cast<const std::uint8_t*>(mapped);

  const auto header = load<Elf64_Ehdr>(data_);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    error = "not a 64-bit little-endian ELF file";
    return false;
  }
  machine_ = header.e_machine;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    error = "no section headers: symbols cannot be read";
    return false;
  }
  const std::uint8_t* const sections = within<Elf64_Shdr>(data_, size_, header.e_shoff, header.e_shnum);
  if (sections == nullptr) {
    error = "damaged section headers";
    return false;
  }
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    if (load<Elf64_Shdr>(sections + i * sizeof(Elf64_Shdr)).sh_type == SHT_SYMTAB) stripped_ = false;
  }
  return true;
}

void File::for_each_function(const std::function<void(const Symbol&)>& visit) const {
  const auto header = load<Elf64_Ehdr>(data_);
  const std::uint8_t* const sections = data_ + header.e_shoff;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = load<Elf64_Shdr>(sections + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_link >= header.e_shnum) continue;
    const auto strings = load<Elf64_Shdr>(sections + section.sh_link * sizeof(Elf64_Shdr));
    const Elf64_Shdr pair[2] = {section, strings};
    read_table(pair, section.sh_type == SHT_DYNSYM, visit);
  }
}

void File::read_table(const void* section, bool exported, const std::function<void(const Symbol&)>& visit) const {
  const auto symbols = load<Elf64_Shdr>(static_cast<const std::uint8_t*>(section));
  const auto strings = load<Elf64_Shdr>(static_cast<const std::uint8_t*>(section) + sizeof(Elf64_Shdr));
  const std::uint64_t count = symbols.sh_size / sizeof(Elf64_Sym);
  const std::uint8_t* const table = within<Elf64_Sym>(data_, size_, symbols.sh_offset, count);
  const std::uint8_t* const text = within<char>(data_, size_, strings.sh_offset, strings.sh_size);
  const auto header = load<Elf64_Ehdr>(data_);
  const std::uint8_t* const sections = within<Elf64_Shdr>(data_, size_, header.e_shoff, header.e_shnum);
  if (table == nullptr || text == nullptr) return;

  for (std::uint64_t i = 0; i < count; ++i) {
    const auto symbol = load<Elf64_Sym>(table + i * sizeof(Elf64_Sym));
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    if (symbol.st_shndx >= header.e_shnum || symbol.st_name >= strings.sh_size) continue;
    const char* const name = reinterpret_cast<const char*>(text) + symbol.st_name;
    const std::size_t length = strnlen(name, strings.sh_size - symbol.st_name);
    if (length == 0) continue;
    const auto home = load<Elf64_Shdr>(sections + symbol.st_shndx * sizeof(Elf64_Shdr));
    if ((home.sh_flags & SHF_EXECINSTR) == 0) continue;
    visit({{name, length},
           symbol.st_value,
           symbol.st_size,
           symbol.st_value - home.sh_addr + home.sh_offset,
           type == STT_GNU_IFUNC,
           exported});
  }
}

File::~File() {
  if (data_ != nullptr) munmap(const_cast<std::uint8_t*>(data_), size_);
}

Code File::code_of(const Function& function) const {
  const std::uint8_t* const bytes = within<std::uint8_t>(data_, size_, function.file_offset, function.size);
  if (bytes == nullptr) return {};
  return Code{bytes, static_cast<std::size_t>(function.size), function.value};
}

std::vector<const Function*> cold_parts(const std::vector<Function>& functions, const Function& function) {
  std::vector<const Function*> parts;
  const std::string prefix = function.name + ".cold";
  for (const Function& candidate : functions) {
    if (candidate.name.starts_with(prefix)) parts.push_back(&candidate);
  }
  return parts;
}

}  // namespace profshim::elf
