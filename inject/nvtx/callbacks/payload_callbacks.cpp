#include "callbacks.h"
#include "nccl.h"
#include "ranges.h"

namespace profshim::nvtx {
namespace {

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
  const std::uint64_t foreign = next != nullptr ? next(chained_domain(domain), attributes) : 0;
  return make_schema(domain_of(domain), *attributes, foreign);
}
std::uint64_t register_enum(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
  if (attributes == nullptr) return 0;
  const auto next = chained_payload<std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t*)>(
      NVTX3EXT_CBID_nvtxPayloadEnumRegister);
  const std::uint64_t foreign = next != nullptr ? next(chained_domain(domain), attributes) : 0;
  return make_enum(domain_of(domain), *attributes, foreign);
}
void payload_mark(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  mark(domain_of(domain), with_payload(payloads, count));
  if (const auto next = chained_payload<PayloadCall>(NVTX3EXT_CBID_nvtxMarkPayload))
    next(chained_domain(domain), payloads, count);
}
int payload_push(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  const int level = push(domain_of(domain), with_payload(payloads, count));
  const auto next = chained_payload<int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangePushPayload);
  return next != nullptr ? next(chained_domain(domain), payloads, count) : level;
}
int payload_pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  const int level =
      is_nccl_call(domain) ? nccl_pop(domain_of(domain), payloads, count) : pop(domain_of(domain), payloads, count);
  const auto next = chained_payload<int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangePopPayload);
  return next != nullptr ? next(chained_domain(domain), payloads, count) : level;
}
nvtxRangeId_t payload_start(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t count) {
  const auto next = chained_payload<nvtxRangeId_t (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangeStartPayload);
  return public_id(start(domain_of(domain), with_payload(payloads, count)), next, chained_domain(domain), payloads,
                   count);
}
void payload_end(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* payloads, std::size_t count) {
  const auto next = chained_payload<void (*)(nvtxDomainHandle_t, nvtxRangeId_t, const nvtxPayloadData_t*, std::size_t)>(
      NVTX3EXT_CBID_nvtxRangeEndPayload);
  const EndedRange range = take_public_id(id);
  end(domain_of(domain), range.own, payloads, count);
  if (next != nullptr && range.is_chained) next(chained_domain(domain), id, payloads, count);
}
/// Always 1: a library may ask only once, before recording starts.
std::uint8_t is_enabled(nvtxDomainHandle_t) { return 1; }

const Callback callbacks[] = {
    CALLBACK(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema),
    CALLBACK(NVTX3EXT_CBID_nvtxPayloadEnumRegister, register_enum),
    CALLBACK(NVTX3EXT_CBID_nvtxMarkPayload, payload_mark),
    CALLBACK(NVTX3EXT_CBID_nvtxRangePushPayload, payload_push),
    CALLBACK(NVTX3EXT_CBID_nvtxRangePopPayload, payload_pop),
    CALLBACK(NVTX3EXT_CBID_nvtxRangeStartPayload, payload_start),
    CALLBACK(NVTX3EXT_CBID_nvtxRangeEndPayload, payload_end),
    CALLBACK(NVTX3EXT_CBID_nvtxDomainIsEnabled, is_enabled),
};

}  // namespace

std::span<const Callback> payload_callbacks() { return callbacks; }

}  // namespace profshim::nvtx
