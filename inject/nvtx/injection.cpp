// The NVTX v3 injection: each library of the job that uses NVTX loads "us" through NVTX_INJECTION64_PATH at its first
// call and gets these callbacks. libnvToolsExt.so.1, the older form, does the same.
#include "injection.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "chain.h"
#include "handles.h"
#include "inject/nccl/version.h"
#include "nccl.h"
#include "profshim/recorder.h"
#include "ranges.h"

namespace profshim::nvtx {
namespace {

#define CHAINED_CORE(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core[NVTX_CBID_CORE_##NAME])
#define CHAINED_CORE2(NAME) reinterpret_cast<nvtx##NAME##_impl_fntype>(chain::core2[NVTX_CBID_CORE2_##NAME])

// ---- messages
// --------------------------------------------------------------------------------------------------------

/// A wide message in UTF-8; a message longer than a name may be is cut by the recorder, which says so.
struct WideText {
  char bytes[spool::kMaxName + 8];
  std::string_view view;
  explicit WideText(const wchar_t* text) {
    view = text == nullptr ? std::string_view() : std::string_view(bytes, to_utf8(text, bytes, sizeof bytes));
  }
};

std::string_view view_of(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

std::uint64_t payload_bits(const nvtxEventAttributes_t& a) {
  const bool wide = a.payloadType >= NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 && a.payloadType <= NVTX_PAYLOAD_TYPE_DOUBLE;
  return wide ? a.payload.ullValue : a.payload.uiValue;
}

Annotation annotation_of(const nvtxEventAttributes_t& a) {
  Annotation out;
  out.category = a.category;
  out.color = a.colorType == NVTX_COLOR_ARGB ? a.color : 0;
  if (a.payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    out.extended = reinterpret_cast<const nvtxPayloadData_t*>(a.payload.ullValue);
    out.extended_count = static_cast<std::size_t>(std::max(a.reserved0, 0));
  } else if (a.payloadType > 0 && a.payloadType <= NVTX_PAYLOAD_TYPE_FLOAT) {
    out.payload = payload_bits(a);
    out.payload_type = static_cast<std::uint8_t>(a.payloadType);
  }
  if (a.messageType == NVTX_MESSAGE_TYPE_ASCII) out.c_text = a.message.ascii;
  if (a.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    out.string = reinterpret_cast<RegisteredString*>(a.message.registered);
  }
  return out;
}

/// The message of attributes that are not wide; null = none.
const char* message_of(const nvtxEventAttributes_t& a) {
  if (a.messageType == NVTX_MESSAGE_TYPE_ASCII) return a.message.ascii;
  if (a.messageType != NVTX_MESSAGE_TYPE_REGISTERED || a.message.registered == nullptr) return nullptr;
  return reinterpret_cast<const RegisteredString*>(a.message.registered)->text;
}

/// The wide form is apart, so that the others need no buffer.
template <class Call>
[[gnu::noinline]] auto with_wide(Annotation annotation, const wchar_t* text, const Call& call) {
  const WideText wide(text);
  annotation.text = wide.view;
  return call(annotation);
}

/// Calls `call` with what the attributes say. A structure shorter than today's counts as zeros behind its end.
template <class Call>
auto with_attributes(const nvtxEventAttributes_t* attributes, const Call& call) {
  if (!listening()) return call.quiet();
  if (attributes == nullptr) return call(Annotation{});
  if (attributes->size >= sizeof *attributes && attributes->messageType != NVTX_MESSAGE_TYPE_UNICODE &&
      call.is_nothing(message_of(*attributes))) {
    return call.quiet();
  }
  nvtxEventAttributes_t whole;
  if (attributes->size < sizeof whole) {
    whole = nvtxEventAttributes_t{};
    std::memcpy(&whole, attributes, attributes->size);
    attributes = &whole;
  }
  const Annotation annotation = annotation_of(*attributes);
  if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    return with_wide(annotation, attributes->message.unicode, call);
  }
  return call(annotation);
}

template <class Call>
auto with_text(const char* text, const Call& call) {
  if (call.is_nothing(text)) return call.quiet();
  Annotation annotation;
  annotation.c_text = text;
  return call(annotation);
}
template <class Call>
auto with_text(const wchar_t* text, const Call& call) {
  return listening() ? with_wide(Annotation{}, text, call) : call.quiet();
}

nvtxDomainHandle_t theirs(nvtxDomainHandle_t domain) { return domain_of(domain).theirs; }

// ---- ranges and marks
// ------------------------------------------------------------------------------------------------

/// What a callback does with its annotation; when there is nothing to do for a message, and what it answers then.
struct PushTo {
  nvtxDomainHandle_t domain;
  int operator()(const Annotation& a) const { return push(domain_of(domain), a); }
  bool is_nothing(const char* text) const { return is_unheard(text) && !has_open_ranges(); }
  int quiet() const { return NVTX_NO_PUSH_POP_TRACKING; }
};
struct StartIn {
  nvtxDomainHandle_t domain;
  nvtxRangeId_t operator()(const Annotation& a) const { return start(domain_of(domain), a); }
  bool is_nothing(const char* text) const { return is_unheard(text); }
  nvtxRangeId_t quiet() const { return 0; }
};
struct MarkIn {
  nvtxDomainHandle_t domain;
  void operator()(const Annotation& a) const { mark(domain_of(domain), a); }
  bool is_nothing(const char* text) const { return is_unheard(text); }
  void quiet() const {}
};
int popped(nvtxDomainHandle_t domain) {
  return listening() && has_open_ranges() ? pop(domain_of(domain), nullptr, 0) : NVTX_NO_PUSH_POP_TRACKING;
}

/// The range id that the job gets: the other tool's, tied to ours, where there is one.
template <class Theirs, class... Args>
nvtxRangeId_t public_id(nvtxRangeId_t ours, Theirs next, Args... args) {
  if (next == nullptr) return ours;
  const nvtxRangeId_t id = next(args...);
  chain::tie(id, ours);
  return id;
}
/// Ours for a public id, where a chained tool gives out the ids.
nvtxRangeId_t our_id(nvtxRangeId_t id, bool chained) { return chained ? chain::untie(id) : id; }

void mark_a(const char* text) {
  with_text(text, MarkIn{nullptr});
  if (const auto next = CHAINED_CORE(MarkA)) next(text);
}
void mark_w(const wchar_t* text) {
  with_text(text, MarkIn{nullptr});
  if (const auto next = CHAINED_CORE(MarkW)) next(text);
}
void mark_ex(const nvtxEventAttributes_t* a) {
  with_attributes(a, MarkIn{nullptr});
  if (const auto next = CHAINED_CORE(MarkEx); next != nullptr && a != nullptr) {
    const nvtxEventAttributes_t for_them = chain::translated(a);
    next(&for_them);
  }
}
int push_a(const char* text) {
  const int level = with_text(text, PushTo{nullptr});
  const auto next = CHAINED_CORE(RangePushA);
  return next != nullptr ? next(text) : level;
}
int push_w(const wchar_t* text) {
  const int level = with_text(text, PushTo{nullptr});
  const auto next = CHAINED_CORE(RangePushW);
  return next != nullptr ? next(text) : level;
}
int push_ex(const nvtxEventAttributes_t* a) {
  const int level = with_attributes(a, PushTo{nullptr});
  const auto next = CHAINED_CORE(RangePushEx);
  if (next == nullptr || a == nullptr) return level;
  const nvtxEventAttributes_t for_them = chain::translated(a);
  return next(&for_them);
}
int pop_default() {
  const int level = popped(nullptr);
  const auto next = CHAINED_CORE(RangePop);
  return next != nullptr ? next() : level;
}
nvtxRangeId_t start_a(const char* text) {
  return public_id(with_text(text, StartIn{nullptr}), CHAINED_CORE(RangeStartA), text);
}
nvtxRangeId_t start_w(const wchar_t* text) {
  return public_id(with_text(text, StartIn{nullptr}), CHAINED_CORE(RangeStartW), text);
}
nvtxRangeId_t start_ex(const nvtxEventAttributes_t* a) {
  const nvtxRangeId_t ours = with_attributes(a, StartIn{nullptr});
  const auto next = CHAINED_CORE(RangeStartEx);
  if (next == nullptr || a == nullptr) return ours;
  const nvtxEventAttributes_t for_them = chain::translated(a);
  return public_id(ours, next, &for_them);
}
void end_default(nvtxRangeId_t id) {
  const auto next = CHAINED_CORE(RangeEnd);
  end(domain_of(nullptr), our_id(id, next != nullptr), nullptr, 0);
  if (next != nullptr) next(id);
}

void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  with_attributes(a, MarkIn{domain});
  if (const auto next = CHAINED_CORE2(DomainMarkEx); next != nullptr && a != nullptr) {
    const nvtxEventAttributes_t for_them = chain::translated(a);
    next(theirs(domain), &for_them);
  }
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  const nvtxRangeId_t ours = with_attributes(a, StartIn{domain});
  const auto next = CHAINED_CORE2(DomainRangeStartEx);
  if (next == nullptr || a == nullptr) return ours;
  const nvtxEventAttributes_t for_them = chain::translated(a);
  return public_id(ours, next, theirs(domain), &for_them);
}
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  const auto next = CHAINED_CORE2(DomainRangeEnd);
  end(domain_of(domain), our_id(id, next != nullptr), nullptr, 0);
  if (next != nullptr) next(theirs(domain), id);
}
int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  const int level = is_nccl_call(domain) ? nccl_push(domain_of(domain), a) : with_attributes(a, PushTo{domain});
  const auto next = CHAINED_CORE2(DomainRangePushEx);
  if (next == nullptr || a == nullptr) return level;
  const nvtxEventAttributes_t for_them = chain::translated(a);
  return next(theirs(domain), &for_them);
}
int domain_pop(nvtxDomainHandle_t domain) {
  const int level = is_nccl_call(domain) ? nccl_pop(domain_of(domain), nullptr, 0) : popped(domain);
  const auto next = CHAINED_CORE2(DomainRangePop);
  return next != nullptr ? next(theirs(domain)) : level;
}

// ---- names and handles
// -----------------------------------------------------------------------------------------------

void name_thread(std::uint32_t tid, std::string_view name) {
  if (!listening() || recorder::this_thread() == nullptr) return;
  recorder::define(spool::DefinitionKind::kThreadName, tid, recorder::intern(name), 0, {std::int64_t{tid}});
}
void name_thread_a(std::uint32_t tid, const char* name) {
  name_thread(tid, view_of(name));
  if (const auto next = CHAINED_CORE(NameOsThreadA)) next(tid, name);
}
void name_thread_w(std::uint32_t tid, const wchar_t* name) {
  name_thread(tid, WideText(name).view);
  if (const auto next = CHAINED_CORE(NameOsThreadW)) next(tid, name);
}
void name_category_a(std::uint32_t number, const char* name) {
  name_category(domain_of(nullptr), number, view_of(name));
  if (const auto next = CHAINED_CORE(NameCategoryA)) next(number, name);
}
void name_category_w(std::uint32_t number, const wchar_t* name) {
  name_category(domain_of(nullptr), number, WideText(name).view);
  if (const auto next = CHAINED_CORE(NameCategoryW)) next(number, name);
}
void domain_name_category_a(nvtxDomainHandle_t domain, std::uint32_t number, const char* name) {
  name_category(domain_of(domain), number, view_of(name));
  if (const auto next = CHAINED_CORE2(DomainNameCategoryA)) next(theirs(domain), number, name);
}
void domain_name_category_w(nvtxDomainHandle_t domain, std::uint32_t number, const wchar_t* name) {
  name_category(domain_of(domain), number, WideText(name).view);
  if (const auto next = CHAINED_CORE2(DomainNameCategoryW)) next(theirs(domain), number, name);
}
nvtxStringHandle_t register_string_a(nvtxDomainHandle_t domain, const char* text) {
  const auto next = CHAINED_CORE2(DomainRegisterStringA);
  const nvtxStringHandle_t foreign = next != nullptr ? next(theirs(domain), text) : nullptr;
  return reinterpret_cast<nvtxStringHandle_t>(make_string(domain_of(domain), view_of(text), foreign));
}
nvtxStringHandle_t register_string_w(nvtxDomainHandle_t domain, const wchar_t* text) {
  const auto next = CHAINED_CORE2(DomainRegisterStringW);
  const nvtxStringHandle_t foreign = next != nullptr ? next(theirs(domain), text) : nullptr;
  return reinterpret_cast<nvtxStringHandle_t>(make_string(domain_of(domain), WideText(text).view, foreign));
}
nvtxDomainHandle_t create_domain_a(const char* name) {
  const auto next = CHAINED_CORE2(DomainCreateA);
  return reinterpret_cast<nvtxDomainHandle_t>(make_domain(name, next != nullptr ? next(name) : nullptr));
}
nvtxDomainHandle_t create_domain_w(const wchar_t* name) {
  WideText text(name);
  text.bytes[std::min(text.view.size(), sizeof text.bytes - 1)] = '\0';
  const auto next = CHAINED_CORE2(DomainCreateW);
  return reinterpret_cast<nvtxDomainHandle_t>(make_domain(text.bytes, next != nullptr ? next(name) : nullptr));
}
/// Ours is kept: other threads may still hold the handle, and a domain of the same name gets it again. So is theirs.
void destroy_domain(nvtxDomainHandle_t) {}
nvtxResourceHandle_t create_resource(nvtxDomainHandle_t domain, nvtxResourceAttributes_t* attributes) {
  const auto next = CHAINED_CORE2(DomainResourceCreate);
  if (next == nullptr || attributes == nullptr) return nullptr;
  nvtxResourceAttributes_t for_them{};
  std::memcpy(&for_them, attributes, std::min<std::size_t>(attributes->size, sizeof for_them));
  if (for_them.messageType == NVTX_MESSAGE_TYPE_REGISTERED && for_them.message.registered != nullptr) {
    for_them.message.registered = reinterpret_cast<RegisteredString*>(for_them.message.registered)->theirs;
  }
  return next(theirs(domain), &for_them);
}
nvtx_nvtxSyncUser_t create_sync(nvtxDomainHandle_t domain, const nvtx_nvtxSyncUserAttributes_t* attributes) {
  const auto next = reinterpret_cast<nvtxDomainSyncUserCreate_fakeimpl_fntype>(chain::sync_create);
  return next != nullptr ? next(theirs(domain), attributes) : nullptr;
}

// ---- payload extension
// -----------------------------------------------------------------------------------------------

using PayloadCall = void (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t);
template <class Function>
Function chained_payload(std::size_t slot) {
  return reinterpret_cast<Function>(chain::payload[slot]);
}

Annotation with_payload(const nvtxPayloadData_t* payloads, std::size_t count) {
  Annotation a;
  a.extended = payloads;
  a.extended_count = count;
  return a;
}

std::uint64_t register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attributes) {
  if (attributes == nullptr) return 0;
  const auto next = chained_payload<std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*)>(
      NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
  const std::uint64_t foreign = next != nullptr ? next(theirs(domain), attributes) : 0;
  return make_schema(domain_of(domain), *attributes, foreign);
}
std::uint64_t register_enum(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
  if (attributes == nullptr) return 0;
  const auto next = chained_payload<std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t*)>(
      NVTX3EXT_CBID_nvtxPayloadEnumRegister);
  const std::uint64_t foreign = next != nullptr ? next(theirs(domain), attributes) : 0;
  return make_enum(domain_of(domain), *attributes, foreign);
}
void payload_mark(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  mark(domain_of(domain), with_payload(payloads, count));
  if (const auto next = chained_payload<PayloadCall>(NVTX3EXT_CBID_nvtxMarkPayload))
    next(theirs(domain), payloads, count);
}
int payload_push(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  const int level = push(domain_of(domain), with_payload(payloads, count));
  const auto next = chained_payload<int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangePushPayload);
  return next != nullptr ? next(theirs(domain), payloads, count) : level;
}
int payload_pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  const int level =
      is_nccl_call(domain) ? nccl_pop(domain_of(domain), payloads, count) : pop(domain_of(domain), payloads, count);
  const auto next = chained_payload<int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangePopPayload);
  return next != nullptr ? next(theirs(domain), payloads, count) : level;
}
nvtxRangeId_t payload_start(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  const auto next = chained_payload<nvtxRangeId_t (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangeStartPayload);
  return public_id(start(domain_of(domain), with_payload(payloads, count)), next, theirs(domain), payloads, count);
}
void payload_end(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* payloads, std::size_t count) {
  const auto next = chained_payload<void (*)(nvtxDomainHandle_t, nvtxRangeId_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangeEndPayload);
  end(domain_of(domain), our_id(id, next != nullptr || CHAINED_CORE2(DomainRangeEnd) != nullptr), payloads, count);
  if (next != nullptr) next(theirs(domain), id, payloads, count);
}
/// Always yes: a library may ask once, before this process begins to record.
std::uint8_t is_enabled(nvtxDomainHandle_t) { return 1; }

// ---- attaching
// -------------------------------------------------------------------------------------------------------

struct Callback {
  unsigned slot;
  NvtxFunctionPointer function;
};
#define CALLBACK(SLOT, FUNCTION) \
  Callback { SLOT, reinterpret_cast<NvtxFunctionPointer>(&FUNCTION) }

const Callback core_callbacks[] = {
    CALLBACK(NVTX_CBID_CORE_MarkEx, mark_ex),
    CALLBACK(NVTX_CBID_CORE_MarkA, mark_a),
    CALLBACK(NVTX_CBID_CORE_MarkW, mark_w),
    CALLBACK(NVTX_CBID_CORE_RangeStartEx, start_ex),
    CALLBACK(NVTX_CBID_CORE_RangeStartA, start_a),
    CALLBACK(NVTX_CBID_CORE_RangeStartW, start_w),
    CALLBACK(NVTX_CBID_CORE_RangeEnd, end_default),
    CALLBACK(NVTX_CBID_CORE_RangePushEx, push_ex),
    CALLBACK(NVTX_CBID_CORE_RangePushA, push_a),
    CALLBACK(NVTX_CBID_CORE_RangePushW, push_w),
    CALLBACK(NVTX_CBID_CORE_RangePop, pop_default),
    CALLBACK(NVTX_CBID_CORE_NameCategoryA, name_category_a),
    CALLBACK(NVTX_CBID_CORE_NameCategoryW, name_category_w),
    CALLBACK(NVTX_CBID_CORE_NameOsThreadA, name_thread_a),
    CALLBACK(NVTX_CBID_CORE_NameOsThreadW, name_thread_w),
};
const Callback core2_callbacks[] = {
    CALLBACK(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),
    CALLBACK(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
    CALLBACK(NVTX_CBID_CORE2_DomainRangeEnd, domain_end),
    CALLBACK(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
    CALLBACK(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
    CALLBACK(NVTX_CBID_CORE2_DomainResourceCreate, create_resource),
    CALLBACK(NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category_a),
    CALLBACK(NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category_w),
    CALLBACK(NVTX_CBID_CORE2_DomainRegisterStringA, register_string_a),
    CALLBACK(NVTX_CBID_CORE2_DomainRegisterStringW, register_string_w),
    CALLBACK(NVTX_CBID_CORE2_DomainCreateA, create_domain_a),
    CALLBACK(NVTX_CBID_CORE2_DomainCreateW, create_domain_w),
    CALLBACK(NVTX_CBID_CORE2_DomainDestroy, destroy_domain),
};
const Callback sync_callbacks[] = {CALLBACK(NVTX_CBID_SYNC_DomainSyncUserCreate, create_sync)};
const Callback payload_callbacks[] = {
    CALLBACK(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema),
    CALLBACK(NVTX3EXT_CBID_nvtxPayloadEnumRegister, register_enum),
    CALLBACK(NVTX3EXT_CBID_nvtxMarkPayload, payload_mark),
    CALLBACK(NVTX3EXT_CBID_nvtxRangePushPayload, payload_push),
    CALLBACK(NVTX3EXT_CBID_nvtxRangePopPayload, payload_pop),
    CALLBACK(NVTX3EXT_CBID_nvtxRangeStartPayload, payload_start),
    CALLBACK(NVTX3EXT_CBID_nvtxRangeEndPayload, payload_end),
    CALLBACK(NVTX3EXT_CBID_nvtxDomainIsEnabled, is_enabled),
};

template <std::size_t N>
void install(const NvtxExportTableCallbacks& tables, NvtxCallbackModule module, const Callback (&callbacks)[N]) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (tables.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const Callback& callback : callbacks) {
    if (callback.slot < size && table[callback.slot] != nullptr) *table[callback.slot] = callback.function;
  }
}

bool attach(NvtxGetExportTableFunc_t get) {
  const auto* const tables = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  if (tables == nullptr || tables->struct_size < sizeof *tables) return false;
  nccl::note_nvtx_copy(reinterpret_cast<const void*>(get));
  if (chain::wanted()) chain::attach(get);
  install(*tables, NVTX_CB_MODULE_CORE, core_callbacks);
  install(*tables, NVTX_CB_MODULE_CORE2, core2_callbacks);
  if (chain::sync_create != nullptr) install(*tables, NVTX_CB_MODULE_SYNC, sync_callbacks);
  // The older libnvToolsExt has no such table.
  const auto* const version = static_cast<const NvtxExportTableVersionInfo*>(get(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof *version && version->SetInjectionNvtxVersion != nullptr) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  return true;
}

bool attach_extension(nvtxExtModuleInfo_t* module) {
  if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return false;
  if (chain::wanted()) chain::attach_extension(module);
  const nvtxExtModuleSegment_t& segment = module->segments[0];
  for (const Callback& callback : payload_callbacks) {
    if (callback.slot < segment.slotCount) {
      segment.functionSlots[callback.slot] = reinterpret_cast<std::intptr_t>(callback.function);
    }
  }
  return true;
}

/// Whose NVTX it is; written by the constructor.
constinit char foreign_owner[PATH_MAX] = {};

}  // namespace

void set_injection_path(const char* own_path) {
  const char* const set = std::getenv("NVTX_INJECTION64_PATH");
  if (set != nullptr && set[0] != '\0') {
    char resolved[PATH_MAX];
    const char* const chained = std::getenv("PROFSHIM_NVTX_CHAIN");
    if (std::strcmp(realpath(set, resolved) != nullptr ? resolved : set, own_path) == 0) {
      // A parent's work (mpirun's, say): it has left the other tool's path where it found the wish.
      if (chained != nullptr && chained[0] == '/') chain::set_path(chained);
      return;
    }
    if (chained == nullptr || (std::strcmp(chained, "1") != 0 && std::strcmp(chained, set) != 0)) {
      std::strncpy(foreign_owner, set, sizeof foreign_owner - 1);
      return;
    }
    chain::set_path(set);
    setenv("PROFSHIM_NVTX_CHAIN", set, 1);
  }
  setenv("NVTX_INJECTION64_PATH", own_path, 1);
}

void on_activate() {
  session::measure_cost_with(Layer::kNvtx, range_cost);
  if (foreign_owner[0] == '\0') return;
  char sentence[PATH_MAX + 128];
  std::snprintf(sentence, sizeof sentence,
                "NVTX ranges are not recorded: NVTX_INJECTION64_PATH belongs to %s; PROFSHIM_NVTX_CHAIN=1 takes both",
                foreign_owner);
  recorder::problem("nvtx", sentence);
}

}  // namespace profshim::nvtx

// The symbols that every NVTX copy looks up in the library named by NVTX_INJECTION64_PATH. Called under that copy's own
// once-only initialisation, on whatever thread makes the first NVTX call.
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  return get != nullptr && profshim::nvtx::attach(get) ? 1 : 0;
}
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return profshim::nvtx::attach_extension(module) ? 1 : 0;
}
