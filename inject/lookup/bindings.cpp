#include "bindings.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "hooked_names.h"
#include "inject/core/loader/loaded_symbol.h"
#include "inject/core/loader/real_dlsym.h"
#include "inject/core/loader/resolve.h"
#include "profshim/base/threads/loader_lock.h"
#include "unhooked.h"

namespace profshim::inject {
namespace {

#if defined(__x86_64__)
constexpr bool holds_address(std::uint32_t type) { return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT; }
#elif defined(__aarch64__)
constexpr bool holds_address(std::uint32_t type) { return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT; }
#endif

/// The parts of a file's dynamic section.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* texts = nullptr;
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  } plt, others;
  bool needs_layer = false;
};

bool is_of_layers(const char* file) {
  return belongs(file, Layer::kMpi) || belongs(file, Layer::kNccl) || belongs(file, Layer::kCuda);
}

Dynamic read_dynamic(const ElfW(Dyn) * entries, ElfW(Addr) bias) {
  Dynamic read;
  // The loader has added the bias, unless the section is read-only.
  const auto at = [bias](const ElfW(Dyn) & entry) {
    return entry.d_un.d_ptr < bias ? entry.d_un.d_ptr + bias : entry.d_un.d_ptr;
  };
  for (const ElfW(Dyn)* entry = entries; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        read.symbols = reinterpret_cast<const ElfW(Sym)*>(at(*entry));
        break;
      case DT_STRTAB:
        read.texts = reinterpret_cast<const char*>(at(*entry));
        break;
      case DT_JMPREL:
        read.plt.first = reinterpret_cast<const ElfW(Rela)*>(at(*entry));
        break;
      case DT_PLTRELSZ:
        read.plt.bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        read.others.first = reinterpret_cast<const ElfW(Rela)*>(at(*entry));
        break;
      case DT_RELASZ:
        read.others.bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  for (const ElfW(Dyn)* entry = entries; entry->d_tag != DT_NULL && read.texts != nullptr; ++entry) {
    if (entry->d_tag == DT_NEEDED && is_of_layers(read.texts + entry->d_un.d_val)) read.needs_layer = true;
  }
  return read;
}

/// A place in a file's table of addresses that is not bound to our export.
struct Slot {
  const void* headers;  // of the file
  std::atomic<void*>* place;
  void* bound;
  std::uint32_t number;
};
constexpr std::size_t kMostSlots = 256;
struct Slots {
  std::array<Slot, kMostSlots> all;
  std::size_t count = 0;
};

/// Returns false at the first slot with our export: then the file was not opened with RTLD_DEEPBIND.
bool collect(const Dynamic& file, const Dynamic::Relocations& relocations, const dl_phdr_info& info, Slots& slots) {
  if (relocations.first == nullptr || file.symbols == nullptr) return true;
  const std::size_t count = relocations.bytes / sizeof(ElfW(Rela));
  for (std::size_t i = 0; i < count && slots.count < kMostSlots; ++i) {
    const ElfW(Rela)& relocation = relocations.first[i];
    if (!holds_address(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info)))) continue;
    const char* const name = file.texts + file.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
    const std::uint32_t number = hooked_name(name);
    if (number == 0) continue;
    auto* const place = reinterpret_cast<std::atomic<void*>*>(info.dlpi_addr + relocation.r_offset);
    void* const bound = place->load(std::memory_order_relaxed);
    if (bound == own_export(name)) return false;
    slots.all[slots.count++] = {info.dlpi_phdr, place, bound, number};
  }
  return true;
}

/// Files that were examined, by the address of their program headers. Cleared when a file is unloaded, because another
/// may come to its place.
class ExaminedFiles {
 public:
  void forget() {
    for (std::atomic<std::uintptr_t>& key : keys_) key.store(0, std::memory_order_relaxed);
  }
  /// False if the file was added before.
  bool add(const void* headers) {
    const auto key = reinterpret_cast<std::uintptr_t>(headers);
    return keys_[key / 64 * 0x9e3779b97f4a7c15u >> 52].exchange(key, std::memory_order_relaxed) != key;
  }

 private:
  std::array<std::atomic<std::uintptr_t>, 4096> keys_{};
};
constinit ExaminedFiles examined;
constinit std::atomic<std::uint64_t> loads_seen{0}, unloads_seen{0};

int examine(dl_phdr_info* info, std::size_t, void* argument) {
  auto& slots = *static_cast<Slots*>(argument);
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr);
  }
  if (dynamic == nullptr || is_of_layers(info->dlpi_name) || !examined.add(info->dlpi_phdr)) return 0;
  const Dynamic file = read_dynamic(dynamic, info->dlpi_addr);
  if (!file.needs_layer) return 0;
  const std::size_t before = slots.count;
  if (!collect(file, file.plt, *info, slots) || !collect(file, file.others, *info, slots)) slots.count = before;
  return 0;
}

bool write(std::atomic<void*>* place, void* bound, void* hook, const dl_phdr_info& info) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  bool is_read_only = false;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    // The loader protects whole pages: rounds the end down.
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr, end = (begin + header.p_memsz) & ~(page - 1);
    if (header.p_type == PT_GNU_RELRO && begin <= address && address < end) is_read_only = true;
  }
  auto* const pages = reinterpret_cast<void*>(address & ~(page - 1));
  if (is_read_only && mprotect(pages, page, PROT_READ | PROT_WRITE) != 0) return false;
  const bool written = place->compare_exchange_strong(bound, hook, std::memory_order_acq_rel) || bound == hook;
  if (is_read_only) mprotect(pages, page, PROT_READ);
  return written;
}

struct Rebinding {
  const Slot& slot;
  void* hook;
  bool done = false;
};

/// Writes only if the file is still there: the callback holds the loader's lock.
int rebind(dl_phdr_info* info, std::size_t, void* argument) {
  auto& rebinding = *static_cast<Rebinding*>(argument);
  if (info->dlpi_phdr != rebinding.slot.headers) return 0;
  rebinding.done = write(rebinding.slot.place, rebinding.slot.bound, rebinding.hook, *info);
  return 1;
}

bool is_file_of(void* handle, const void* headers) {
  return handle != nullptr && object_at(static_cast<const link_map*>(handle)->l_ld).headers == headers;
}

/// The target of the slot. The loader may bind it at the first call (RTLD_LAZY): then what it finds, if that is our
/// export or, with RTLD_DEEPBIND, what the hook stands for. Else null.
void* target_of(const Slot& slot, const char* name, void* handle) {
  if (object_at(slot.bound).headers != slot.headers) return slot.bound;
  if (!is_file_of(handle, slot.headers) || real_dlsym(RTLD_DEFAULT, name) != own_export(name)) return nullptr;
  void* const found = real_dlsym(handle, name);
  if (found == nullptr) dlerror();  // locale: cleared, not read
  return found;
}

void rebind_slot(const Slot& slot, void* handle) {
  const HookedFunction hooked = hooked_function(slot.number);
  void* const target = target_of(slot, hooked.name, handle);
  if (!belongs(object_at(target).name, hooked.layer)) return;  // of another tool
  if (!hooked.real.adopt(hooked.name, target)) {
    note_unhooked(Unhooked::kOtherLibrary, hooked.name, target);
    return;
  }
  Rebinding rebinding{slot, own_export(hooked.name)};
  visit_loaded_files(rebind, &rebinding);
  if (!rebinding.done) note_unhooked(Unhooked::kBoundPast, hooked.name, slot.place);
}

void examine_new_files(void* handle) {
  void* const memory = mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  auto& slots = *static_cast<Slots*>(memory);
  visit_loaded_files(examine, &slots);
  // adopt() takes another lock of the loader: not inside the callback.
  for (std::size_t i = 0; i < slots.count; ++i) rebind_slot(slots.all[i], handle);
  munmap(memory, sizeof(Slots));
}

/// dl_iterate_phdr() shows no file of another namespace.
void note_other_namespace(void* handle) {
  Lmid_t space = LM_ID_BASE;
  if (handle == nullptr || dlinfo(handle, RTLD_DI_LMID, &space) != 0 || space == LM_ID_BASE) return;
  const auto& file = *static_cast<const link_map*>(handle);
  if (!is_of_layers(file.l_name) && !read_dynamic(file.l_ld, file.l_addr).needs_layer) return;
  note_unhooked(Unhooked::kOtherNamespace, "MPI, NCCL or CUDA", file.l_ld);
}

}  // namespace

void rebind_new_files(void* handle) {
  const LoadCounters now = load_counters();
  if (now.loads == loads_seen.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  loads_seen.store(now.loads, std::memory_order_relaxed);
  if (unloads_seen.exchange(now.unloads, std::memory_order_relaxed) != now.unloads) examined.forget();
  examine_new_files(handle);
  note_other_namespace(handle);
  errno = saved_errno;
}

}  // namespace profshim::inject
