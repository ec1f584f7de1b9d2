#include <gtest/gtest.h>

#include "kineto/args/torch_args.h"

namespace profshim::kineto {
namespace {

Event of_cpu(std::int64_t bytes, std::uint8_t flags = 0) {
  Event event;
  event.hook = HookId::kTorchMemory;
  event.flags = flags;
  event.memory = {.address = 0x7f00, .bytes = bytes, .allocated = 800, .reserved = 0, .device_index = -1};
  return event;
}

std::string text(std::span<const Arg> args) {
  std::string all;
  for (const Arg& arg : args) {
    all += std::string(arg.key) + "=";
    if (const auto* const number = std::get_if<std::int64_t>(&arg.value)) all += std::to_string(*number);
    if (const auto* const count = std::get_if<std::uint64_t>(&arg.value)) all += std::to_string(*count);
    all += ";";
  }
  return all;
}

TEST(MemoryArgs, AreThoseOfKineto) {
  MemoryArgList args;

  const Event event = of_cpu(-400);
  add_memory_args(event, args);

  EXPECT_EQ(memory_name(event), "[memory]");
  EXPECT_EQ(text(args.all()), "Device Type=0;Device Id=-1;Addr=32512;Bytes=-400;Total Allocated=800;Total Reserved=0;");
}

TEST(MemoryArgs, FailedAllocationHasNoAddress) {
  MemoryArgList args;

  const Event event = of_cpu(1 << 20, kFailed);
  add_memory_args(event, args);

  EXPECT_EQ(memory_name(event), "[OutOfMemory]");
  EXPECT_EQ(text(args.all()), "Device Type=0;Device Id=-1;Bytes=1048576;Total Allocated=800;Total Reserved=0;");
}

TEST(MemoryArgs, TotalsThatNobodyToldAreLeftOut) {
  MemoryArgList args;
  Event event = of_cpu(1 << 20, kFailed);
  event.memory.allocated = event.memory.reserved = kUnknownTotal;

  add_memory_args(event, args);

  EXPECT_EQ(text(args.all()), "Device Type=0;Device Id=-1;Bytes=1048576;");
}

}  // namespace
}  // namespace profshim::kineto
