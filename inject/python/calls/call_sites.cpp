#include "call_sites.h"

#include <bit>

#include "profshim/python/calls.h"
#include "profshim/recorder.h"

namespace profshim::python::calls {
namespace {

using profshim::python_calls::CallSite;
using profshim::python_calls::kLost;
using python_stack::Frame;

struct Key {
  const void *function, *caller, *module;
  std::uint32_t caller_offset, own_offset;
  bool operator==(const Key&) const = default;
};

std::uint64_t hash_of(const Key& key) {
  const auto number = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  std::uint64_t hash = number(key.function) * 0x9e3779b97f4a7c15;
  hash = std::rotl(hash, 23) ^ number(key.caller) * 0xd1342543de82ef95;
  hash = std::rotl(hash, 23) ^ number(key.module) * 0xaf251af3b0f025b5;
  hash ^= (std::uint64_t{key.own_offset} << 32 | key.caller_offset) * 0xbf58476d1ce4e5b9;
  return hash ^ hash >> 29;
}

/// Open addressing with linear probing: one load of memory for a known site. Guarded by the GIL.
class Sites {
 public:
  std::uint32_t* find(const Key& key) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash_of(key);; ++i) {
      Slot& slot = slots_[i & mask];
      if (slot.id == 0) return nullptr;
      if (slot.key == key) return &slot.id;
    }
  }
  void add(const Key& key, std::uint32_t id) {
    if (++used_ * 2 > slots_.size()) grow();
    place(slots_, {key, id});
  }

 private:
  struct Slot {
    Key key;
    std::uint32_t id;  // 0 = free
  };
  static void place(std::vector<Slot>& slots, const Slot& slot) {
    const std::size_t mask = slots.size() - 1;
    std::size_t i = hash_of(slot.key);
    while (slots[i & mask].id != 0) ++i;
    slots[i & mask] = slot;
  }
  void grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    for (const Slot& slot : slots_) {
      if (slot.id != 0) place(larger, slot);
    }
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(4096);  // a power of two
  std::size_t used_ = 0;
};

Sites& sites() {
  static auto* const all = new Sites;
  return *all;
}

int line_of(const Frame& frame) { return api().line_of(code_of(frame), static_cast<int>(frame.offset)); }

StringId place_of(const Frame& frame) {
  const CodeFunction* const function = of_code(code_of(frame));
  return function == nullptr ? 0 : recorder::intern(function->file + ":" + std::to_string(line_of(frame)));
}

std::uint32_t add_site(const Key& key, const CallSite& site) {
  StringId id = recorder::intern(site.text());
  if (id == 0 || id >= kLost) id = kLost;
  sites().add(key, id);
  return id;
}

[[gnu::noinline]] std::uint32_t new_site(const Key& key, const CodeFunction& function, const Frame& frame,
                                         const Frame* caller) {
  CallSite site{};
  site.function = function.number;
  site.caller = place_of(caller != nullptr ? *caller : frame);
  if (key.module != nullptr) {
    const auto* const type = reinterpret_cast<const char*>(type_of(static_cast<const Object*>(key.module)));
    site.name = recorder::intern(python_stack::name_of_type(type));
    site.module = reinterpret_cast<std::uint64_t>(key.module);
    site.module_type = reinterpret_cast<std::uint64_t>(type);
  } else {
    site.name = recorder::intern(function.file + "(" + std::to_string(line_of(frame)) + "): " + function.name);
  }
  return add_site(key, site);
}

}  // namespace

std::uint32_t site_of(const CodeFunction& function, const Frame& frame, const Frame* caller) {
  const CodeFunction* const calling = caller != nullptr ? of_code(code_of(*caller)) : nullptr;
  const char* const module = function.is_module_call ? python_stack::first_argument(frame) : nullptr;
  const Key key{&function, calling, module, calling != nullptr ? caller->offset : 0,
                module == nullptr ? frame.offset : 0};
  if (const std::uint32_t* const known = sites().find(key)) return *known;
  return new_site(key, function, frame, calling != nullptr ? caller : nullptr);
}

std::uint32_t site_of(const BuiltIn& function, const Frame& caller) {
  const CodeFunction* const calling = of_code(code_of(caller));
  const Key key{function.method, calling, nullptr, caller.offset, 0};
  if (const std::uint32_t* const known = sites().find(key)) return *known;
  CallSite site{};
  site.name = calls::name_of(function);
  site.caller = place_of(caller);
  site.function = calls::number_of(function);
  return add_site(key, site);
}

}  // namespace profshim::python::calls
