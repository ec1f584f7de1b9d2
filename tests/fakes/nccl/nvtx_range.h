// The NVTX ranges that NCCL pushes around its public functions.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#define FAKE_NCCL_NVTX 1
#endif

#include "fakes/nccl/communicator.h"

namespace fake::nccl {

class Range {
 public:
#ifdef FAKE_NCCL_NVTX
  explicit Range(const char* function) {
    nvtxEventAttributes_t attributes = attributes_of(function);
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  Range(const char* function, const Communicator* communicator, std::uint64_t bytes, const char* third, int value) {
    struct {
      std::uint64_t communicator, bytes;
      std::int32_t value;
    } const payload{communicator ? communicator->hash : 0, bytes, value};
    nvtxPayloadData_t data{schema(third), sizeof payload, &payload};
    nvtxEventAttributes_t attributes = attributes_of(function);
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  ~Range() { nvtxDomainRangePop(domain()); }

 private:
  static nvtxDomainHandle_t domain() {
    static nvtxDomainHandle_t const handle = nvtxDomainCreateA("NCCL");
    return handle;
  }
  static nvtxEventAttributes_t attributes_of(const char* function) {
    static std::mutex lock;
    static auto& names = *new std::map<const char*, nvtxStringHandle_t>;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    const std::lock_guard guard(lock);
    nvtxStringHandle_t& name = names[function];
    if (!name) name = nvtxDomainRegisterStringA(domain(), function);
    attributes.message.registered = name;
    return attributes;
  }
  static std::uint64_t schema(const char* third) {
    static std::mutex lock;
    static auto& schemas = *new std::map<std::string, std::uint64_t>;
    const std::lock_guard guard(lock);
    std::uint64_t& id = schemas[third];
    if (id != 0) return id;
    const nvtxPayloadSchemaEntry_t entries[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0, 8},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, third, nullptr, 0, 16},
    };
    nvtxPayloadSchemaAttr_t schema_attributes{};
    schema_attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    schema_attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema_attributes.entries = entries;
    schema_attributes.numEntries = 3;
    schema_attributes.payloadStaticSize = 24;
    id = nvtxPayloadSchemaRegister(domain(), &schema_attributes);
    return id;
  }
#else
  explicit Range(const char*) {}
  Range(const char*, const Communicator*, std::uint64_t, const char*, int) {}
#endif
};

inline constexpr char kRoot[] = "Root", kPeer[] = "Peer rank", kOp[] = "Reduction operation", kRanks[] = "No. of ranks";

}  // namespace fake::nccl
