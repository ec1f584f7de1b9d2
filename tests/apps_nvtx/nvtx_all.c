// This file is built as a program (NVTX_APP_MAIN), as a rank (NVTX_APP_MPI) and as a library.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#ifdef NVTX_APP_MPI
#include <mpi.h>
#endif

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t registered;
static uint64_t schema, inner_schema, enumeration;

struct inner {
  int32_t a;
  double b;
};
struct outer {
  uint64_t bytes;
  int32_t op;
  struct inner nested;
  int32_t values[3];
  char fixed[8];
  const char* text;
};

static nvtxEventAttributes_t attributes(void) {
  nvtxEventAttributes_t a;
  memset(&a, 0, sizeof a);
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = registered;
  a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  a.payload.ullValue = 4242;
  a.category = 7;
  a.colorType = NVTX_COLOR_ARGB;
  a.color = 0xff112233;
  return a;
}

void nvtx_app_prepare(const char* domain_name) {
  domain = nvtxDomainCreateA(domain_name);
  registered = nvtxDomainRegisterStringA(domain, "registered-string");
  nvtxDomainNameCategoryA(domain, 7, "seventh");
  nvtxNameCategoryA(8, "eighth");
  static const nvtxPayloadEnum_t ops[] = {{"sum", 0, 0}, {"max", 2, 0}};
  nvtxPayloadEnumAttr_t e;
  memset(&e, 0, sizeof e);
  e.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  e.entries = ops;
  e.numEntries = 2;
  e.sizeOfEnum = 4;
  enumeration = nvtxPayloadEnumRegister(domain, &e);
  const nvtxPayloadSchemaEntry_t in[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "a", NULL, 0, 0, NULL, NULL},
                                         {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "b", NULL, 0, 0, NULL, NULL}};
  nvtxPayloadSchemaAttr_t s;
  memset(&s, 0, sizeof s);
  s.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  s.name = "inner";
  s.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  s.entries = in;
  s.numEntries = 2;
  s.payloadStaticSize = sizeof(struct inner);
  inner_schema = nvtxPayloadSchemaRegister(domain, &s);
  const nvtxPayloadSchemaEntry_t out[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "Message size [bytes]", NULL, 0, 0, NULL, NULL},
      {0, enumeration, "op", NULL, 0, 0, NULL, NULL},
      {0, inner_schema, "nested", NULL, 0, 0, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "values", NULL, 3, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "fixed", NULL, 8, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 0, 0, NULL, NULL}};
  s.name = "Outer schema";
  s.entries = out;
  s.numEntries = 6;
  s.payloadStaticSize = sizeof(struct outer);
  schema = nvtxPayloadSchemaRegister(domain, &s);
}

static void* end_elsewhere(void* id) {
  nvtxDomainRangeEnd(domain, *(nvtxRangeId_t*)id);
  return NULL;
}

void nvtx_app_step(int levels[6]) {
  nvtxEventAttributes_t a = attributes();
  levels[0] = nvtxRangePushA("plain");
  levels[1] = nvtxDomainRangePushEx(domain, &a);
  levels[2] = nvtxDomainRangePushEx(domain, &a);
  nvtxMarkA("mark");
  nvtxDomainMarkEx(domain, &a);
  levels[3] = nvtxDomainRangePop(domain);
  levels[4] = nvtxRangePop();
  levels[5] = nvtxDomainRangePop(domain);
  nvtxRangePushW(L"wide \u20ac");
  nvtxRangePop();
  nvtxMarkW(L"wide mark");
  nvtxRangeId_t here = nvtxRangeStartA("start-end");
  nvtxRangeId_t there = nvtxDomainRangeStartEx(domain, &a);
  nvtxRangeEnd(here);
  nvtxRangeEnd(here);  // ignored, like an unknown id
  nvtxRangeEnd(0x1234567);
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_elsewhere, &there) == 0) pthread_join(thread, NULL);
  const struct outer payload = {1048576, 2, {-3, 0.5}, {1, 2, 3}, "fixed", "a \"text\""};
  const nvtxPayloadData_t data = {schema, sizeof payload, &payload};
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = "with-payload";
  a.payloadType = (int32_t)NVTX_PAYLOAD_TYPE_EXT;
  a.reserved0 = 1;
  a.payload.ullValue = (uint64_t)(uintptr_t)&data;
  nvtxDomainRangePushEx(domain, &a);
  nvtxDomainRangePop(domain);
  nvtxRangePushA(NULL);
  nvtxRangePop();
}

#ifdef NVTX_APP_MAIN
int main(int argc, char** argv) {
  nvtx_app_prepare("app");
#ifdef NVTX_APP_MPI
  MPI_Init(&argc, &argv);
#else
  (void)argc;
  (void)argv;
#endif
  int levels[6];
  for (int step = 0; step < 6; ++step) {
    char name[32];
    snprintf(name, sizeof name, "training_step_%d", step);
    nvtxRangePushA(name);
    nvtx_app_step(levels);
    nvtxRangePop();
  }
  printf("levels");
  for (int i = 0; i < 6; ++i) printf(" %d", levels[i]);
  printf("\n");
#ifdef NVTX_APP_MPI
  MPI_Finalize();
#endif
  return 0;
}
#endif
