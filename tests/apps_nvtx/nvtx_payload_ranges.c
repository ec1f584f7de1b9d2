#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <string.h>
#include <uchar.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  const nvtxPayloadSchemaEntry_t entries[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, "name", NULL, 0, 0, NULL, NULL}};
  nvtxPayloadSchemaAttr_t schema;
  memset(&schema, 0, sizeof schema);
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 1;
  const char16_t* const name = u"payload range";
  const nvtxPayloadData_t data = {nvtxPayloadSchemaRegister(domain, &schema), sizeof name, &name};
  nvtxDomainRangeEnd(domain, nvtxRangeStartPayload(domain, &data, 1));
  nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, &data, 1), NULL, 0);
  MPI_Finalize();
  return 0;
}
