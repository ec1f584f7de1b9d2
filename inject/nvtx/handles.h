// The objects behind NVTX handles: domains, registered strings, payload schemas and enums. Every process makes them,
// even one that never records. They are in an arena of their own and are never freed, since threads may keep handles
// for as long as they like. All functions may run on any thread and take no locks.
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

/// A payload schema or enum that the job has registered. The arrays and all texts are our copies.
struct Schema {
  std::uint64_t id;
  const char* name;    // "" = none
  std::uint64_t type;  // NVTX_PAYLOAD_SCHEMA_TYPE_*
  const nvtxPayloadSchemaEntry_t* entries;
  std::size_t count;
  std::size_t static_size;          // bytes; 0 = the job has not given it
  std::size_t pack;                 // 0 = natural alignment
  const nvtxPayloadEnum_t* values;  // an enum has these instead of entries
  Schema* next;
};

struct Category {
  std::uint32_t number;
  const char* name;
  std::atomic<bool> defined;  // in the spool
  Category* next;
};

struct Domain {
  const char* name;            // "" = the default domain
  std::uint32_t id;            // Definition id; 0 = the default domain
  nvtxDomainHandle_t chained;  // the handle that the chained tool has for it
  std::atomic<bool> defined;   // in the spool
  std::atomic<Schema*> schemas;
  std::atomic<Category*> categories;
  Domain* next;
  bool is_nccl;  // the domain of the NCCL library: see nccl.h
};

/// A cached answer: does a text match a marker pattern?
enum class Match : std::uint8_t { kUnknown, kNo, kYes };

struct RegisteredString {
  const char* text;
  std::uint32_t length;
  std::atomic<Match> step, epoch;
  std::atomic<StringId> id;  // 0 = not interned yet
  HookId function;           // in NCCL's domain: the function that the text names
  Domain* domain;
  nvtxStringHandle_t chained;
  std::uint64_t hash;
  RegisteredString* next;
};

/// The name of a range or mark without a message.
inline constexpr std::string_view kUnnamed = "(unnamed)";

extern constinit Domain default_domain;
/// `handle` comes from the job; null is the default domain.
inline Domain& domain_of(nvtxDomainHandle_t handle) {
  return handle == nullptr ? default_domain : *reinterpret_cast<Domain*>(handle);
}

/// Returns the domain `name`, which the first call makes. Libraries that use the same name share it. Null if the arena
/// is full.
Domain* make_domain(const char* name, nvtxDomainHandle_t chained);
/// Registers a text. The same text in the same domain gives the same handle. Null if the arena is full.
RegisteredString* make_string(Domain& domain, std::string_view text, nvtxStringHandle_t chained);
/// Registers a schema or an enum as `id`; 0 = choose an id. Returns the id; 0 if the attributes are not valid or the
/// arena is full.
std::uint64_t make_schema(Domain& domain, const nvtxPayloadSchemaAttr_t& attributes, std::uint64_t id);
std::uint64_t make_enum(Domain& domain, const nvtxPayloadEnumAttr_t& attributes, std::uint64_t id);
const Schema* find_schema(const Domain& domain, std::uint64_t id);
void name_category(Domain& domain, std::uint32_t number, std::string_view name);

// The next three functions only work in an active session.

/// Writes the name of a domain into the spool at its first use. Returns its Definition id.
std::uint32_t define_domain(Domain& domain);
/// Returns the name of a category, if it has one.
void define_category(Domain& domain, std::uint32_t number);
/// The text may have been registered before the session became active.
StringId intern_string(RegisteredString& string);

/// Converts to UTF-8. Surrogates become U+FFFD. Writes whole characters only, at most `size` bytes. Returns the length.
std::size_t to_utf8(const wchar_t* text, char* out, std::size_t size);

}  // namespace profshim::nvtx
