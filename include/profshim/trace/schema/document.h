// Keys of a trace, of its events, and of the objects "distributedInfo" and "deviceProperties".
#pragma once

#include <cstdint>
#include <string_view>

namespace profshim::schema {

namespace top {
inline constexpr std::string_view kSchemaVersion = "schemaVersion";
inline constexpr std::string_view kDeviceProperties = "deviceProperties";
inline constexpr std::string_view kDistributedInfo = "distributedInfo";
inline constexpr std::string_view kHostName = "host_name";
inline constexpr std::string_view kProfshim = "profshim";
inline constexpr std::string_view kDisplayTimeUnit = "displayTimeUnit";
inline constexpr std::string_view kBaseTime = "baseTimeNanoseconds";
inline constexpr std::string_view kTraceEvents = "traceEvents";
inline constexpr std::string_view kTraceName = "traceName";
inline constexpr std::string_view kCuptiVersion = "cupti_version";
inline constexpr std::string_view kCudaRuntimeVersion = "cuda_runtime_version";
inline constexpr std::string_view kCudaDriverVersion = "cuda_driver_version";
inline constexpr std::string_view kRecordShapes = "record_shapes";
inline constexpr std::string_view kWithFlops = "with_flops";
inline constexpr std::string_view kWithStack = "with_stack";
inline constexpr std::string_view kWithModules = "with_modules";
inline constexpr std::string_view kProfileMemory = "profile_memory";
}  // namespace top

namespace event {
inline constexpr std::string_view kPhase = "ph";
inline constexpr std::string_view kCategory = "cat";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kPid = "pid";
inline constexpr std::string_view kTid = "tid";
inline constexpr std::string_view kTimestamp = "ts";  // microseconds since baseTimeNanoseconds, three decimals
inline constexpr std::string_view kDuration = "dur";  // microseconds, three decimals
inline constexpr std::string_view kId = "id";
inline constexpr std::string_view kScopedId = "id2";  // {"local": "0x1f"}: id within one process
inline constexpr std::string_view kScope = "s";
inline constexpr std::string_view kBindingPoint = "bp";
inline constexpr std::string_view kArgs = "args";
// Members of id2.
inline constexpr std::string_view kLocal = "local";
inline constexpr std::string_view kGlobal = "global";
}  // namespace event

/// Members of distributedInfo and of pg_config's elements.
namespace distributed {
inline constexpr std::string_view kBackend = "backend";
inline constexpr std::string_view kRank = "rank";
inline constexpr std::string_view kWorldSize = "world_size";
inline constexpr std::string_view kGroupCount = "pg_count";
inline constexpr std::string_view kGroups = "pg_config";
inline constexpr std::string_view kNcclVersion = "nccl_version";
inline constexpr std::string_view kGroupName = "pg_name";
inline constexpr std::string_view kGroupDescription = "pg_desc";
inline constexpr std::string_view kGroupBackend = "backend_config";
inline constexpr std::string_view kGroupSize = "pg_size";
inline constexpr std::string_view kGroupRanks = "ranks";
inline constexpr std::string_view kNcclBackend = "nccl";
}  // namespace distributed

/// Members of deviceProperties' elements.
namespace device {
inline constexpr std::string_view kId = "id";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kTotalMemory = "totalGlobalMem";
inline constexpr std::string_view kComputeMajor = "computeMajor";
inline constexpr std::string_view kComputeMinor = "computeMinor";
inline constexpr std::string_view kMaxThreadsPerBlock = "maxThreadsPerBlock";
inline constexpr std::string_view kMaxThreadsPerSm = "maxThreadsPerMultiprocessor";
inline constexpr std::string_view kRegistersPerBlock = "regsPerBlock";
inline constexpr std::string_view kRegistersPerSm = "regsPerMultiprocessor";
inline constexpr std::string_view kWarpSize = "warpSize";
inline constexpr std::string_view kSharedMemoryPerBlock = "sharedMemPerBlock";
inline constexpr std::string_view kSharedMemoryPerBlockOptin = "sharedMemPerBlockOptin";
inline constexpr std::string_view kSharedMemoryPerSm = "sharedMemPerMultiprocessor";
inline constexpr std::string_view kSmCount = "numSms";
// Not written by Kineto.
inline constexpr std::string_view kUuid = "uuid";
inline constexpr std::string_view kMigUuid = "migUuid";
inline constexpr std::string_view kGpuInstance = "gpuInstanceId";
inline constexpr std::string_view kComputeInstance = "computeInstanceId";
}  // namespace device

/// Values of "ph".
namespace phase {
inline constexpr char kSlice = 'X';
inline constexpr char kMetadata = 'M';
inline constexpr char kInstant = 'i';
inline constexpr char kOldInstant = 'I';
inline constexpr char kCounter = 'C';
inline constexpr char kAsyncBegin = 'b';
inline constexpr char kAsyncInstant = 'n';
inline constexpr char kAsyncEnd = 'e';
inline constexpr char kFlowStart = 's';
inline constexpr char kFlowStep = 't';
inline constexpr char kFlowEnd = 'f';
}  // namespace phase

/// Values of "s".
namespace scope {
inline constexpr std::string_view kThread = "t";
inline constexpr std::string_view kProcess = "p";
inline constexpr std::string_view kGlobal = "g";
}  // namespace scope

/// "bp" of a flow end: binds the arrow to the slice around its end, not to the next slice.
inline constexpr std::string_view kBindEnclosing = "e";

/// baseTimeNanoseconds is a multiple of a quarter of a year.
inline constexpr std::int64_t kBaseStepNs = 7889238ll * 1000000000;

}  // namespace profshim::schema
