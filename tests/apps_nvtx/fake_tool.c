// This NVTX tool beside profshim checks that it gets only its own handles.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int pushes, pops, marks, starts, ends, strangers;
static char domain_object, string_object;

static void check(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
  if ((char*)d != &domain_object) ++strangers;
  if (a != NULL && a->messageType == NVTX_MESSAGE_TYPE_REGISTERED && (char*)a->message.registered != &string_object) {
    ++strangers;
  }
}
static int push_a(const char* m) { return m == NULL ? 0 : ++pushes > 0 ? 40 : 0; }
static int pop(void) { return ++pops > 0 ? 41 : 0; }
static void mark_a(const char* m) { marks += m != NULL; }
static nvtxRangeId_t start_a(const char* m) { return m == NULL ? 0 : 1000 + (nvtxRangeId_t)++starts; }
static void end(nvtxRangeId_t id) { ends += id > 1000 && id < 100000; }
static nvtxDomainHandle_t create(const char* n) { return (nvtxDomainHandle_t)(n != NULL ? &domain_object : NULL); }
static nvtxStringHandle_t reg(nvtxDomainHandle_t d, const char* s) {
  check(d, NULL);
  return (nvtxStringHandle_t)(s != NULL ? &string_object : NULL);
}
static int dpush(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
  check(d, a);
  return ++pushes > 0 ? 42 : 0;
}
static int dpop(nvtxDomainHandle_t d) {
  check(d, NULL);
  return ++pops > 0 ? 43 : 0;
}
static void dmark(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
  check(d, a);
  ++marks;
}
static nvtxRangeId_t dstart(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
  check(d, a);
  return 1000 + (nvtxRangeId_t)++starts;
}
static void dend(nvtxDomainHandle_t d, nvtxRangeId_t id) {
  check(d, NULL);
  ends += id > 1000 && id < 100000;
}

static void report(void) {
  fprintf(stderr, "fake tool: pushes %d pops %d marks %d starts %d ends %d strangers %d\n", pushes, pops, marks, starts,
          ends, strangers);
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const NvtxExportTableCallbacks* tables = get(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable t;
  unsigned n;
  if (tables == NULL || !tables->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &t, &n)) return 0;
  *t[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push_a;
  *t[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  *t[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer)mark_a;
  *t[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)start_a;
  *t[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)end;
  if (!tables->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &t, &n)) return 0;
  *t[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
  *t[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)reg;
  *t[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)dpush;
  *t[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)dpop;
  *t[NVTX_CBID_CORE2_DomainMarkEx] = (NvtxFunctionPointer)dmark;
  *t[NVTX_CBID_CORE2_DomainRangeStartEx] = (NvtxFunctionPointer)dstart;
  *t[NVTX_CBID_CORE2_DomainRangeEnd] = (NvtxFunctionPointer)dend;
  atexit(report);
  return 1;
}
