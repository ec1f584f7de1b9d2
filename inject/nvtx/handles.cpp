#include "handles.h"

#include <sys/mman.h>

#include <cstring>

#include "profshim/recorder.h"

namespace profshim::nvtx {

constinit Domain default_domain{"", 0, nullptr, {false}, {nullptr}, {nullptr}, nullptr, false};
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;
constexpr std::uint32_t kMaxBlocks = 64;

struct Block {
  std::atomic<std::size_t> used;
  // Allocated objects follow, from byte 64.
};
constinit std::atomic<Block*> current{nullptr};
constinit std::atomic<std::uint32_t> blocks{0};

void* allocate(std::size_t bytes) {
  bytes = (bytes + 15) & ~std::size_t{15};
  if (bytes > kBlockBytes / 2) return nullptr;
  for (;;) {
    Block* const block = current.load(std::memory_order_acquire);
    if (block != nullptr) {
      const std::size_t at = block->used.fetch_add(bytes, std::memory_order_relaxed);
      if (at + bytes <= kBlockBytes) return reinterpret_cast<char*>(block) + at;
    }
    if (blocks.fetch_add(1, std::memory_order_relaxed) >= kMaxBlocks) {
      blocks.fetch_sub(1, std::memory_order_relaxed);
      return nullptr;
    }
    void* const memory = mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* const fresh = static_cast<Block*>(memory);
    fresh->used.store(64, std::memory_order_relaxed);
    Block* expected = block;
    if (!current.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
      munmap(memory, kBlockBytes);
      blocks.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

template <class T>
T* allocate() {
  return static_cast<T*>(allocate(sizeof(T)));
}

const char* copy(std::string_view text) {
  auto* const to = static_cast<char*>(allocate(text.size() + 1));
  if (to == nullptr) return "";
  std::memcpy(to, text.data(), text.size());
  return to;
}
const char* copy(const char* text) { return text == nullptr ? "" : copy(std::string_view(text)); }

template <class T>
void push_front(std::atomic<T*>& head, T* node) {
  node->next = head.load(std::memory_order_relaxed);
  // Release: pairs with the acquire loads of searches.
  while (!head.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

constinit std::atomic<Domain*> domains{nullptr};
constinit std::atomic<std::uint32_t> next_domain{1};
constinit std::atomic<std::uint64_t> next_schema{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};

constexpr std::size_t kStringBuckets = 4096;
constinit std::atomic<RegisteredString*> strings[kStringBuckets] = {};

std::uint64_t hash_of(const Domain& domain, std::string_view text) {
  std::uint64_t hash = 1469598103934665603ULL ^ domain.id;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash ^ hash >> 29;
}

std::uint64_t add_schema(Domain& domain, Schema* schema, std::uint64_t id) {
  schema->id = id != 0 ? id : next_schema.fetch_add(1, std::memory_order_relaxed);
  push_front(domain.schemas, schema);
  return schema->id;
}

}  // namespace

Domain* make_domain(const char* name, nvtxDomainHandle_t chained) {
  if (name == nullptr) name = "";
  for (Domain* d = domains.load(std::memory_order_acquire); d != nullptr; d = d->next) {
    if (d->chained == chained && std::strcmp(d->name, name) == 0) return d;
  }
  auto* const domain = allocate<Domain>();
  if (domain == nullptr) return nullptr;
  domain->name = copy(name);
  domain->id = next_domain.fetch_add(1, std::memory_order_relaxed);
  domain->chained = chained;
  domain->is_nccl = std::strcmp(name, "NCCL") == 0;
  push_front(domains, domain);
  return domain;
}

RegisteredString* make_string(Domain& domain, std::string_view text, nvtxStringHandle_t chained) {
  const std::uint64_t hash = hash_of(domain, text);
  std::atomic<RegisteredString*>& bucket = strings[hash % kStringBuckets];
  for (RegisteredString* s = bucket.load(std::memory_order_acquire); s != nullptr; s = s->next) {
    if (s->hash == hash && s->domain == &domain && s->chained == chained &&
        text == std::string_view(s->text, s->length)) {
      return s;
    }
  }
  auto* const string = allocate<RegisteredString>();
  if (string == nullptr) return nullptr;
  string->text = copy(text);
  string->length = static_cast<std::uint32_t>(string->text[0] == '\0' ? 0 : text.size());
  string->domain = &domain;
  string->chained = chained;
  string->hash = hash;
  string->function = domain.is_nccl ? hook_by_name(text) : HookId::kNone;
  push_front(bucket, string);
  return string;
}

std::uint64_t make_schema(Domain& domain, const nvtxPayloadSchemaAttr_t& attributes, std::uint64_t id) {
  const auto has = [&](std::uint64_t field) { return (attributes.fieldMask & field) != 0; };
  if (attributes.entries == nullptr || attributes.numEntries == 0 || attributes.numEntries > 4096) return 0;
  auto* const schema = allocate<Schema>();
  auto* const entries =
      static_cast<nvtxPayloadSchemaEntry_t*>(allocate(attributes.numEntries * sizeof(nvtxPayloadSchemaEntry_t)));
  if (schema == nullptr || entries == nullptr) return 0;
  std::memcpy(entries, attributes.entries, attributes.numEntries * sizeof *entries);
  for (std::size_t i = 0; i < attributes.numEntries; ++i) {
    entries[i].name = copy(entries[i].name);
    entries[i].description = nullptr;
    entries[i].semantics = nullptr;
  }
  schema->name = copy(has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? attributes.name : nullptr);
  schema->type = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE) ? attributes.type : NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema->entries = entries;
  schema->count = attributes.numEntries;
  schema->static_size = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) ? attributes.payloadStaticSize : 0;
  schema->pack = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) ? attributes.packAlign : 0;
  if (id == 0 && has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)) id = attributes.schemaId;
  return add_schema(domain, schema, id);
}

std::uint64_t make_enum(Domain& domain, const nvtxPayloadEnumAttr_t& attributes, std::uint64_t id) {
  const auto has = [&](std::uint64_t field) { return (attributes.fieldMask & field) != 0; };
  if (attributes.entries == nullptr || attributes.numEntries == 0 || attributes.numEntries > 4096) return 0;
  auto* const schema = allocate<Schema>();
  auto* const values = static_cast<nvtxPayloadEnum_t*>(allocate(attributes.numEntries * sizeof(nvtxPayloadEnum_t)));
  if (schema == nullptr || values == nullptr) return 0;
  std::memcpy(values, attributes.entries, attributes.numEntries * sizeof *values);
  for (std::size_t i = 0; i < attributes.numEntries; ++i) values[i].name = copy(values[i].name);
  schema->name = copy(has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) ? attributes.name : nullptr);
  schema->values = values;
  schema->count = attributes.numEntries;
  schema->static_size = has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) ? attributes.sizeOfEnum : sizeof(int);
  if (id == 0 && has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID)) id = attributes.schemaId;
  return add_schema(domain, schema, id);
}

const Schema* find_schema(const Domain& domain, std::uint64_t id) {
  for (const Schema* s = domain.schemas.load(std::memory_order_acquire); s != nullptr; s = s->next) {
    if (s->id == id) return s;
  }
  return nullptr;
}

void name_category(Domain& domain, std::uint32_t number, std::string_view name) {
  for (Category* c = domain.categories.load(std::memory_order_acquire); c != nullptr; c = c->next) {
    if (c->number == number && name == c->name) return;
  }
  auto* const category = allocate<Category>();
  if (category == nullptr) return;
  category->number = number;
  category->name = copy(name);
  push_front(domain.categories, category);
}

std::uint32_t define_domain(Domain& domain) {
  if (domain.id != 0 && !domain.defined.load(std::memory_order_relaxed) && !domain.defined.exchange(true)) {
    recorder::define(spool::DefinitionKind::kNvtxDomain, domain.id, recorder::intern(domain.name));
  }
  return domain.id;
}

void define_category(Domain& domain, std::uint32_t number) {
  for (Category* c = domain.categories.load(std::memory_order_acquire); c != nullptr; c = c->next) {
    if (c->number != number) continue;
    if (!c->defined.load(std::memory_order_relaxed) && !c->defined.exchange(true)) {
      recorder::define(spool::DefinitionKind::kNvtxCategory, number, recorder::intern(c->name), 0, {domain.id, number});
    }
    return;  // the newest name comes first
  }
}

StringId intern_string(RegisteredString& string) {
  StringId id = string.id.load(std::memory_order_relaxed);
  if (id == 0) {
    id = recorder::intern(string.length == 0 ? kUnnamed : std::string_view(string.text, string.length));
    string.id.store(id, std::memory_order_relaxed);  // every thread computes the same id
  }
  return id;
}

std::size_t to_utf8(const wchar_t* text, char* out, std::size_t size) {
  std::size_t at = 0;
  for (; *text != 0; ++text) {
    auto c = static_cast<std::uint32_t>(*text);
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff) c = 0xfffd;
    const std::size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (at + bytes > size) break;
    if (bytes == 1) {
      out[at++] = static_cast<char>(c);
      continue;
    }
    static constexpr std::uint8_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[at++] = static_cast<char>(kLead[bytes] | c >> 6 * (bytes - 1));
    for (std::size_t rest = bytes - 1; rest-- > 0;) out[at++] = static_cast<char>(0x80 | (c >> 6 * rest & 0x3f));
  }
  return at;
}

}  // namespace profshim::nvtx
