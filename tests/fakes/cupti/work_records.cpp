#include "fakes/cupti/work_records.h"

#include "fakes/environment.h"

namespace fake::cupti {

namespace {

/// Some record types lack some of these fields.
template <typename Record>
Record record_of(std::uint32_t kind, const Work& work, Times times, std::uint32_t correlation) {
  Record record{};
  record.kind = kind;
  record.start = times.start;
  record.end = times.end;
  record.device = work.device;
  record.context = work.context;
  record.stream = work.stream;
  record.correlation = correlation;
  record.graph = work.graph;
  if constexpr (requires { record.graph_node; }) record.graph_node = work.graph_node;
  if constexpr (requires { record.bytes; }) record.bytes = work.bytes;
  if constexpr (requires { record.flags; }) record.flags = work.is_async ? 1 : 0;
  return record;
}

template <typename Record>
void set_memory(Record& record, const Work& work) {
  record.copy_kind = static_cast<std::uint8_t>(work.copy);
  record.source = static_cast<std::uint8_t>(work.source);
  record.target = static_cast<std::uint8_t>(work.target);
  record.channel_type = 2;
}

}  // namespace

Kernel kernel_record(Kind kind, const Work& work, Times times, std::uint32_t correlation) {
  auto record = record_of<Kernel>(kind, work, times, correlation);
  record.registers_per_thread = 16;
  record.completed = times.end;
  const unsigned grid[] = {work.grid.x, work.grid.y, work.grid.z}, block[] = {work.block.x, work.block.y, work.block.z};
  for (const int i : {0, 1, 2}) {
    record.grid[i] = static_cast<std::int32_t>(grid[i]);
    record.block[i] = static_cast<std::int32_t>(block[i]);
  }
  record.dynamic_shared = static_cast<std::int32_t>(work.shared_bytes);
  record.grid_id = static_cast<std::int64_t>(work.grid_id);
  record.name = work.name;
  record.channel = work.stream;
  record.channel_type = 1;
  return record;
}

Memcpy copy_record(const Work& work, Times times, std::uint32_t correlation) {
  auto record = record_of<Memcpy>(kMemcpy, work, times, correlation);
  set_memory(record, work);
  record.copy_count = 1;
  return record;
}

MemcpyPeer peer_record(const Work& work, Times times, std::uint32_t correlation) {
  auto record = record_of<MemcpyPeer>(kMemcpyPeer, work, times, correlation);
  set_memory(record, work);
  record.from_device = work.from_device;
  record.from_context = work.from_device + 1;
  record.to_device = work.to_device;
  record.to_context = work.to_device + 1;
  return record;
}

Memset set_record(const Work& work, Times times, std::uint32_t correlation) {
  auto record = record_of<Memset>(kMemset, work, times, correlation);
  record.value = work.value;
  record.memory_kind = static_cast<std::uint16_t>(work.target);
  record.channel_type = 1;
  return record;
}

GraphTrace graph_record(const Work& work, Times times, std::uint32_t correlation) {
  auto record = record_of<GraphTrace>(kGraphTrace, work, times, correlation);
  record.end_device = work.device;
  record.end_context = work.context;
  return record;
}

Device device_record(int ordinal) {
  Device record{};
  record.kind = kDevice;
  record.bandwidth = 3352000000;
  record.memory_bytes = 80ull << 30;
  record.l2_bytes = 50u << 20;
  record.warp = 32;
  record.clock_khz = 1980000;
  record.copy_engines = 3;
  record.multiprocessors = 132;
  record.warps_per_sm = 64;
  record.blocks_per_sm = 32;
  record.shared_per_sm = 228u << 10;
  record.registers_per_sm = 65536;
  record.registers_per_block = 65536;
  record.shared_per_block = 48u << 10;
  record.threads_per_block = 1024;
  record.major = 9;
  record.id = static_cast<std::uint32_t>(ordinal);
  record.uuid[0] = static_cast<std::uint8_t>(ordinal + 1);
  record.name = "Fake GPU";
  record.visible = 1;
  record.gpu_instance = record.compute_instance = ~0u;
  if (number("FAKE_CUDA_MIG") != 0) {
    record.name = "Fake GPU MIG 1g.10gb";
    record.multiprocessors = 14;
    record.mig = 1;
    record.gpu_instance = static_cast<std::uint32_t>(7 + ordinal);
    record.compute_instance = 0;
    for (int byte = 0; byte < 16; ++byte) record.mig_uuid[byte] = static_cast<std::uint8_t>(16 * (ordinal + 1) + byte);
  }
  return record;
}

}  // namespace fake::cupti
