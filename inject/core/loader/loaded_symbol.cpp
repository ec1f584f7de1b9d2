#include "loaded_symbol.h"

#include <link.h>

#include <cstdint>

#include "profshim/base/threads/loader_lock.h"

// link.h declares it without visibility, which would make the compiler read its address where the loader writes it
// later. NOLINTNEXTLINE(readability-redundant-declaration)
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern "C" {
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
}

namespace profshim::inject {
namespace {

bool same(const char* one, const char* other) {
  while (*one != '\0' && *one == *other) ++one, ++other;
  return *one == *other;
}

/// The loader has added the bias to the addresses, unless the section is read-only (the vdso's).
template <class T>
const T* at(ElfW(Addr) address, ElfW(Addr) bias) {
  return reinterpret_cast<const T*>(address < bias ? address + bias : address);
}

/// Zero if the section lacks the entry.
ElfW(Addr) value_of(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == tag) return dynamic->d_un.d_ptr;
  }
  return 0;
}

bool has_soname(const link_map& file, const char* soname) {
  if (file.l_ld == nullptr) return false;
  const ElfW(Addr) texts = value_of(file.l_ld, DT_STRTAB), name = value_of(file.l_ld, DT_SONAME);
  return texts != 0 && name != 0 && same(at<char>(texts, file.l_addr) + name, soname);
}

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

/// DT_GNU_HASH: this header, a bloom filter, buckets, and chains whose last entry is odd.
struct HashTable {
  std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;
};

struct Symbols {
  const ElfW(Sym) * table;
  const char* texts;
  const ElfW(Half) * versions;  // null = the file has no versions

  bool is_default_function(std::uint32_t i, const char* name) const {
    constexpr ElfW(Half) kHidden = 0x8000;
    const ElfW(Sym)& symbol = table[i];
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
           (versions == nullptr || (versions[i] & kHidden) == 0) && same(texts + symbol.st_name, name);
  }
};

}  // namespace

const link_map* loaded_files() { return _r_debug.r_map; }

const link_map* file_named(const char* soname, const link_map* files) {
  for (; files != nullptr; files = files->l_next) {
    if (has_soname(*files, soname)) return files;
  }
  return nullptr;
}

void* function_in(const ElfW(Dyn) * dynamic, ElfW(Addr) bias, const char* name) {
  const ElfW(Addr) hash_at = value_of(dynamic, DT_GNU_HASH), versions_at = value_of(dynamic, DT_VERSYM);
  const ElfW(Addr) table_at = value_of(dynamic, DT_SYMTAB), texts_at = value_of(dynamic, DT_STRTAB);
  if (hash_at == 0 || table_at == 0 || texts_at == 0) return nullptr;
  const Symbols symbols{at<ElfW(Sym)>(table_at, bias), at<char>(texts_at, bias),
                        versions_at != 0 ? at<ElfW(Half)>(versions_at, bias) : nullptr};
  const auto& header = *at<HashTable>(hash_at, bias);
  const auto* const bloom = reinterpret_cast<const ElfW(Addr)*>(&header + 1);
  const auto* const buckets = reinterpret_cast<const std::uint32_t*>(bloom + header.bloom_words);
  const std::uint32_t* const chains = buckets + header.buckets;
  const std::uint32_t hash = gnu_hash(name);
  std::uint32_t i = header.buckets != 0 ? buckets[hash % header.buckets] : 0;
  if (i < header.first_symbol) return nullptr;  // an empty bucket
  for (;; ++i) {
    const std::uint32_t entry = chains[i - header.first_symbol];
    if ((entry | 1) == (hash | 1) && symbols.is_default_function(i, name)) {
      return reinterpret_cast<void*>(bias + symbols.table[i].st_value);
    }
    if ((entry & 1) != 0) return nullptr;
  }
}

void* own_export(const char* name) { return function_in(_DYNAMIC, reinterpret_cast<ElfW(Addr)>(&__ehdr_start), name); }

LoadCounters load_counters() {
  LoadCounters counters;
  visit_loaded_files(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<LoadCounters*>(to) = {.loads = info->dlpi_adds, .unloads = info->dlpi_subs};
        return 1;
      },
      &counters);
  return counters;
}

}  // namespace profshim::inject
