#include <algorithm>
#include <cstring>

#include "annotation.h"
#include "callbacks.h"
#include "profshim/recorder.h"
#include "ranges.h"

namespace profshim::nvtx {
namespace {

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
  if (const auto next = CHAINED_CORE2(DomainNameCategoryA)) next(chained_domain(domain), number, name);
}
void domain_name_category_w(nvtxDomainHandle_t domain, std::uint32_t number, const wchar_t* name) {
  name_category(domain_of(domain), number, WideText(name).view);
  if (const auto next = CHAINED_CORE2(DomainNameCategoryW)) next(chained_domain(domain), number, name);
}
nvtxStringHandle_t register_string_a(nvtxDomainHandle_t domain, const char* text) {
  const auto next = CHAINED_CORE2(DomainRegisterStringA);
  const nvtxStringHandle_t foreign = next != nullptr ? next(chained_domain(domain), text) : nullptr;
  return reinterpret_cast<nvtxStringHandle_t>(make_string(domain_of(domain), view_of(text), foreign));
}
nvtxStringHandle_t register_string_w(nvtxDomainHandle_t domain, const wchar_t* text) {
  const auto next = CHAINED_CORE2(DomainRegisterStringW);
  const nvtxStringHandle_t foreign = next != nullptr ? next(chained_domain(domain), text) : nullptr;
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
/// Keeps the domain: other threads may hold its handle, and make_domain() reuses it.
void destroy_domain(nvtxDomainHandle_t) {}
nvtxResourceHandle_t create_resource(nvtxDomainHandle_t domain, nvtxResourceAttributes_t* attributes) {
  const auto next = CHAINED_CORE2(DomainResourceCreate);
  if (next == nullptr || attributes == nullptr) return nullptr;
  nvtxResourceAttributes_t translated{};
  std::memcpy(&translated, attributes, std::min<std::size_t>(attributes->size, sizeof translated));
  if (translated.messageType == NVTX_MESSAGE_TYPE_REGISTERED && translated.message.registered != nullptr) {
    translated.message.registered = reinterpret_cast<RegisteredString*>(translated.message.registered)->chained;
  }
  return next(chained_domain(domain), &translated);
}
nvtx_nvtxSyncUser_t create_sync(nvtxDomainHandle_t domain, const nvtx_nvtxSyncUserAttributes_t* attributes) {
  const auto next = reinterpret_cast<nvtxDomainSyncUserCreate_fakeimpl_fntype>(chain::sync_create);
  return next != nullptr ? next(chained_domain(domain), attributes) : nullptr;
}

const Callback core_callbacks[] = {
    CALLBACK(NVTX_CBID_CORE_NameCategoryA, name_category_a),
    CALLBACK(NVTX_CBID_CORE_NameCategoryW, name_category_w),
    CALLBACK(NVTX_CBID_CORE_NameOsThreadA, name_thread_a),
    CALLBACK(NVTX_CBID_CORE_NameOsThreadW, name_thread_w),
};
const Callback core2_callbacks[] = {
    CALLBACK(NVTX_CBID_CORE2_DomainResourceCreate, create_resource),
    CALLBACK(NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category_a),
    CALLBACK(NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category_w),
    CALLBACK(NVTX_CBID_CORE2_DomainRegisterStringA, register_string_a),
    CALLBACK(NVTX_CBID_CORE2_DomainRegisterStringW, register_string_w),
    CALLBACK(NVTX_CBID_CORE2_DomainCreateA, create_domain_a),
    CALLBACK(NVTX_CBID_CORE2_DomainCreateW, create_domain_w),
    CALLBACK(NVTX_CBID_CORE2_DomainDestroy, destroy_domain),
};
const Callback create_sync_callback[] = {CALLBACK(NVTX_CBID_SYNC_DomainSyncUserCreate, create_sync)};

}  // namespace

std::span<const Callback> core_name_callbacks() { return core_callbacks; }
std::span<const Callback> core2_name_callbacks() { return core2_callbacks; }
std::span<const Callback> sync_callbacks() { return create_sync_callback; }

}  // namespace profshim::nvtx
