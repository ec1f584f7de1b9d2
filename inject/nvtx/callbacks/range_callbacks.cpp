#include "annotation.h"
#include "callbacks.h"
#include "nccl.h"
#include "profshim/recorder_control.h"
#include "ranges.h"

namespace profshim::nvtx {
namespace {

// Passed to with_attributes() and with_text() as `call`. skipped() is the result if can_skip() this message.
struct Push {
  nvtxDomainHandle_t domain;
  int operator()(const Annotation& a) const { return push(domain_of(domain), a); }
  bool can_skip(const char* text) const { return is_ignored(text) && !has_open_ranges(); }
  int skipped() const { return NVTX_NO_PUSH_POP_TRACKING; }
};
struct Start {
  nvtxDomainHandle_t domain;
  nvtxRangeId_t operator()(const Annotation& a) const { return start(domain_of(domain), a); }
  bool can_skip(const char* text) const { return is_ignored(text); }
  nvtxRangeId_t skipped() const { return 0; }
};
struct Mark {
  nvtxDomainHandle_t domain;
  void operator()(const Annotation& a) const { mark(domain_of(domain), a); }
  bool can_skip(const char* text) const { return is_ignored(text); }
  void skipped() const {}
};
int pop_range(nvtxDomainHandle_t domain) {
  return listening() && has_open_ranges() ? pop(domain_of(domain), nullptr, 0) : NVTX_NO_PUSH_POP_TRACKING;
}

void mark_a(const char* text) {
  with_text(text, Mark{nullptr});
  if (const auto next = CHAINED_CORE(MarkA)) next(text);
}
void mark_w(const wchar_t* text) {
  with_text(text, Mark{nullptr});
  if (const auto next = CHAINED_CORE(MarkW)) next(text);
}
void mark_ex(const nvtxEventAttributes_t* a) {
  with_attributes(a, Mark{nullptr});
  if (const auto next = CHAINED_CORE(MarkEx); next != nullptr && a != nullptr) {
    const nvtxEventAttributes_t translated = chain::for_chained_tool(a);
    next(&translated);
  }
}
int push_a(const char* text) {
  const int level = with_text(text, Push{nullptr});
  const auto next = CHAINED_CORE(RangePushA);
  return next != nullptr ? next(text) : level;
}
int push_w(const wchar_t* text) {
  const int level = with_text(text, Push{nullptr});
  const auto next = CHAINED_CORE(RangePushW);
  return next != nullptr ? next(text) : level;
}
int push_ex(const nvtxEventAttributes_t* a) {
  const int level = with_attributes(a, Push{nullptr});
  const auto next = CHAINED_CORE(RangePushEx);
  if (next == nullptr || a == nullptr) return level;
  const nvtxEventAttributes_t translated = chain::for_chained_tool(a);
  return next(&translated);
}
int pop_default() {
  const int level = pop_range(nullptr);
  const auto next = CHAINED_CORE(RangePop);
  return next != nullptr ? next() : level;
}
nvtxRangeId_t start_a(const char* text) {
  return public_id(with_text(text, Start{nullptr}), CHAINED_CORE(RangeStartA), text);
}
nvtxRangeId_t start_w(const wchar_t* text) {
  return public_id(with_text(text, Start{nullptr}), CHAINED_CORE(RangeStartW), text);
}
nvtxRangeId_t start_ex(const nvtxEventAttributes_t* a) {
  const nvtxRangeId_t own = with_attributes(a, Start{nullptr});
  const auto next = CHAINED_CORE(RangeStartEx);
  if (next == nullptr || a == nullptr) return public_id(own);
  const nvtxEventAttributes_t translated = chain::for_chained_tool(a);
  return public_id(own, next, &translated);
}
void end_default(nvtxRangeId_t id) {
  const EndedRange range = take_public_id(id);
  end(domain_of(nullptr), range.own, nullptr, 0);
  if (const auto next = CHAINED_CORE(RangeEnd); next != nullptr && range.is_chained) next(id);
}

void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  with_attributes(a, Mark{domain});
  if (const auto next = CHAINED_CORE2(DomainMarkEx); next != nullptr && a != nullptr) {
    const nvtxEventAttributes_t translated = chain::for_chained_tool(a);
    next(chained_domain(domain), &translated);
  }
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  const nvtxRangeId_t own = with_attributes(a, Start{domain});
  const auto next = CHAINED_CORE2(DomainRangeStartEx);
  if (next == nullptr || a == nullptr) return public_id(own);
  const nvtxEventAttributes_t translated = chain::for_chained_tool(a);
  return public_id(own, next, chained_domain(domain), &translated);
}
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  const EndedRange range = take_public_id(id);
  end(domain_of(domain), range.own, nullptr, 0);
  if (const auto next = CHAINED_CORE2(DomainRangeEnd); next != nullptr && range.is_chained) {
    next(chained_domain(domain), id);
  }
}
int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  const int level = is_nccl_call(domain) ? nccl_push(domain_of(domain), a) : with_attributes(a, Push{domain});
  const auto next = CHAINED_CORE2(DomainRangePushEx);
  if (next == nullptr || a == nullptr) return level;
  const nvtxEventAttributes_t translated = chain::for_chained_tool(a);
  return next(chained_domain(domain), &translated);
}
int domain_pop(nvtxDomainHandle_t domain) {
  const int level = is_nccl_call(domain) ? nccl_pop(domain_of(domain), nullptr, 0) : pop_range(domain);
  const auto next = CHAINED_CORE2(DomainRangePop);
  return next != nullptr ? next(chained_domain(domain)) : level;
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

double range_cost() {
  char name[] = "?ost of a range";
  // The name must not be a step marker.
  for (name[0] = 'a'; name[0] <= 'z' && session::may_be_marker(name[0]); ++name[0]) continue;
  if (name[0] > 'z') return -1;
  Annotation annotation;
  annotation.c_text = name;
  recorder::ScratchThread scratch;
  return scratch.cost_ns([&annotation] {
    push(default_domain, annotation);
    pop(default_domain, nullptr, 0);
  });
}

}  // namespace profshim::nvtx
