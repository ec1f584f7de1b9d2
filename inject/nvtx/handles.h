// The objects behind NVTX handles. Their arena is never freed: threads may keep handles. If the arena (64 MiB) is full,
// make_...() return null or 0, and texts become "". Any thread; no locks.
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

/// Arrays and texts are copies of the job's.
struct Schema {
  std::uint64_t id;
  const char* name;    // "" = none
  std::uint64_t type;  // NVTX_PAYLOAD_SCHEMA_TYPE_*
  const nvtxPayloadSchemaEntry_t* entries;
  std::size_t count;
  std::size_t static_size;          // bytes; 0 = not given
  std::size_t pack;                 // 0 = natural alignment
  const nvtxPayloadEnum_t* values;  // null unless an enum, which has no entries
  Schema* next;
};

struct Category {
  std::uint32_t number;
  const char* name;
  std::atomic<bool> defined;
  Category* next;
};

struct Domain {
  const char* name;  // "" = default domain
  std::uint32_t id;  // Definition id; 0 = default domain
  nvtxDomainHandle_t chained;
  std::atomic<bool> defined;
  std::atomic<Schema*> schemas;
  std::atomic<Category*> categories;
  Domain* next;
  bool is_nccl;
};

struct RegisteredString {
  const char* text;
  std::uint32_t length;
  std::atomic<std::uint32_t> no_step;  // session::marker_generation() + 1 in which `text` marked no step; 0 = unknown
  std::atomic<bool> no_epoch, no_phase;
  std::atomic<StringId> id;  // 0 = not interned yet
  HookId function;           // NCCL function that `text` names, in NCCL's domain
  Domain* domain;
  nvtxStringHandle_t chained;
  std::uint64_t hash;
  RegisteredString* next;
};

inline constexpr std::string_view kUnnamed = "(unnamed)";

extern constinit Domain default_domain;
inline Domain& domain_of(nvtxDomainHandle_t handle) {
  return handle == nullptr ? default_domain : *reinterpret_cast<Domain*>(handle);
}

/// make_domain() and make_string() return the existing object for equal arguments.
Domain* make_domain(const char* name, nvtxDomainHandle_t chained);
RegisteredString* make_string(Domain& domain, std::string_view text, nvtxStringHandle_t chained);
/// `id`: the chained tool's; 0 = uses the job's or a new id. Returns 0 if the attributes are invalid.
std::uint64_t make_schema(Domain& domain, const nvtxPayloadSchemaAttr_t& attributes, std::uint64_t id);
std::uint64_t make_enum(Domain& domain, const nvtxPayloadEnumAttr_t& attributes, std::uint64_t id);
const Schema* find_schema(const Domain& domain, std::uint64_t id);
void name_category(Domain& domain, std::uint32_t number, std::string_view name);

// The next three functions need an active session.

/// The first call for a domain writes its definition.
std::uint32_t define_domain(Domain& domain);
void define_category(Domain& domain, std::uint32_t number);
/// Interns the text at its first use: strings may be registered before the session.
StringId intern_string(RegisteredString& string);

/// Surrogates become U+FFFD. Writes whole characters, at most `size` bytes.
std::size_t to_utf8(const wchar_t* text, char* out, std::size_t size);

}  // namespace profshim::nvtx
