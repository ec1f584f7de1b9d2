#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "device/capture/capture.h"
#include "unit/device/scripted_cupti.h"

namespace profshim::device {

constexpr std::int64_t kSecond = 1'000'000'000;

class CaptureTest : public ::testing::TestWithParam<test::RecordSizes> {
 protected:
  CaptureTest() : cupti_(GetParam()) {
    use_clock(ClockKind::kMonotonic);
    CaptureOptions options;
    options.buffers = 4;
    options.buffer_bytes = 16 << 10;
    options.external = true;
    capture_ = std::make_unique<Capture>(cupti_.api(), out_, options);
    EXPECT_EQ(capture_->prepare(id_places_of_this_thread()), "");
    request_.on = true;
    serve();
    begin_ = ticks();
  }

  std::int64_t serve(std::int64_t after_ns = 0) { return capture_->serve(request_, now_ns_ += after_ns); }
  void flush() { serve(Capture::kFlushEvery_ns); }
  void switch_off() {
    request_.on = false;
    request_.off_at = ticks();
    serve();
  }

  cupti::ApiRecord call(std::uint32_t correlation, std::uint32_t id = 1,
                        std::uint32_t kind = cupti::kRuntimeKind) const {
    return {kind, id, begin_ + correlation * 100, begin_ + correlation * 100 + 50, 1, 0x7000, correlation, 0};
  }
  cupti::KernelRecord kernel(std::uint32_t correlation, const char* name = "_Z6kernelv") const {
    cupti::KernelRecord record{};
    record.kind = cupti::kConcurrentKernelKind;
    record.start = begin_ + correlation * 100 + 60;
    record.end = begin_ + correlation * 100 + 90;
    record.device = 1;
    record.context = 2;
    record.stream = 7;
    record.grid[0] = 3;
    record.block[0] = 64;
    record.registers_per_thread = 40;
    record.correlation = correlation;
    record.name = name;
    record.graph_node = 0;
    record.cluster[0] = 2;
    return record;
  }

  test::ScriptedCupti cupti_;
  test::Collected out_;
  std::unique_ptr<Capture> capture_;
  CaptureRequest request_;
  std::int64_t now_ns_ = 1000 * kSecond;
  Ticks begin_ = 0;
};

}  // namespace profshim::device
