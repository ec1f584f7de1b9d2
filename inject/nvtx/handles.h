// What NVTX handles point to: domains, registered strings, payload schemas and enums. They are made in any process,
// also one that never records, live in a small arena of their own and are never freed: threads may hold them for ever.
// Any thread; no locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "profshim/event.h"

namespace profshim::nvtx {

/// A payload layout that the job described. `entries` and all texts are our copies.
struct Schema {
  std::uint64_t id;
  const char* name;  // "" = none
  std::uint64_t type;
  const nvtxPayloadSchemaEntry_t* entries;
  std::size_t count;
  std::size_t static_size;          // 0 = not said
  std::size_t pack;                 // 0 = natural alignment
  const nvtxPayloadEnum_t* values;  // of an enum (then no entries)
  Schema* next;
};

struct Category {
  std::uint32_t number;
  const char* name;
  std::atomic<bool> defined;
  Category* next;
};

struct Domain {
  const char* name;           // "" = the default domain
  std::uint32_t id;           // Definition id; 0 = the default domain
  nvtxDomainHandle_t theirs;  // of a chained tool
  std::atomic<bool> defined;
  std::atomic<Schema*> schemas;
  std::atomic<Category*> categories;
  Domain* next;
  bool is_nccl;  // of the NCCL library: see nvtx_nccl.h
};

/// Whether a text is a marker, remembered.
enum class Match : std::uint8_t { kUnknown, kNo, kYes };

struct RegisteredString {
  const char* text;
  std::uint32_t length;
  std::atomic<Match> step, epoch;
  std::atomic<StringId> id;  // 0 = not interned yet
  HookId function;           // of NCCL's domain: the function of that name
  Domain* domain;
  nvtxStringHandle_t theirs;
  std::uint64_t hash;
  RegisteredString* next;
};

inline constexpr std::string_view kUnnamed = "(unnamed)";  // a range or mark without a message

extern constinit Domain default_domain;
/// A handle of the job's; null is the default domain.
inline Domain& domain_of(nvtxDomainHandle_t handle) {
  return handle == nullptr ? default_domain : *reinterpret_cast<Domain*>(handle);
}

/// The domain of that name, made at its first use; libraries that use one name share it. Null when the arena is full.
Domain* make_domain(const char* name, nvtxDomainHandle_t theirs);
/// Registers a text; the same text of the same domain gives the same handle.
RegisteredString* make_string(Domain& domain, std::string_view text, nvtxStringHandle_t theirs);
/// A schema or enum; `id` 0 = choose one. Returns its id; 0 = the arena is full.
std::uint64_t make_schema(Domain& domain, const nvtxPayloadSchemaAttr_t& attributes, std::uint64_t id);
std::uint64_t make_enum(Domain& domain, const nvtxPayloadEnumAttr_t& attributes, std::uint64_t id);
const Schema* find_schema(const Domain& domain, std::uint64_t id);
void name_category(Domain& domain, std::uint32_t number, std::string_view name);

/// Active only: the Definition id of a domain, and the name of a category, put into the spool at first use.
std::uint32_t definition_of(Domain& domain);
void define_category(Domain& domain, std::uint32_t number);
/// Active only: names given before activation.
StringId id_of(RegisteredString& string);

/// wchar_t to UTF-8; a lone surrogate becomes U+FFFD. At most `size` bytes, whole characters. Returns the length.
std::size_t to_utf8(const wchar_t* text, char* out, std::size_t size);

}  // namespace profshim::nvtx
