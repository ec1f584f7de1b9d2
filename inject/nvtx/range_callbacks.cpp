// NVTX's ranges and marks, with messages of all forms.
#include "annotation.h"
#include "callbacks.h"
#include "nccl.h"
#include "ranges.h"

namespace profshim::nvtx {

namespace {

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

const Callback core_callbacks[] = {
    CALLBACK(NVTX_CBID_CORE_MarkEx, mark_ex),       CALLBACK(NVTX_CBID_CORE_MarkA, mark_a),
    CALLBACK(NVTX_CBID_CORE_MarkW, mark_w),         CALLBACK(NVTX_CBID_CORE_RangeStartEx, start_ex),
    CALLBACK(NVTX_CBID_CORE_RangeStartA, start_a),  CALLBACK(NVTX_CBID_CORE_RangeStartW, start_w),
    CALLBACK(NVTX_CBID_CORE_RangeEnd, end_default), CALLBACK(NVTX_CBID_CORE_RangePushEx, push_ex),
    CALLBACK(NVTX_CBID_CORE_RangePushA, push_a),    CALLBACK(NVTX_CBID_CORE_RangePushW, push_w),
    CALLBACK(NVTX_CBID_CORE_RangePop, pop_default),
};
const Callback core2_callbacks[] = {
    CALLBACK(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),  CALLBACK(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
    CALLBACK(NVTX_CBID_CORE2_DomainRangeEnd, domain_end), CALLBACK(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
    CALLBACK(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
};

}  // namespace

std::span<const Callback> core_range_callbacks() { return core_callbacks; }
std::span<const Callback> core2_range_callbacks() { return core2_callbacks; }

}  // namespace profshim::nvtx
