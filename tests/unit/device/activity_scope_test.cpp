#include "device/cupti/activity_scope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace profshim::device {
namespace {

/// CUPTI 13.3 has activity functions for the process and for a subscriber. Use of one form makes the other form return
/// CUPTI_ERROR_NOT_COMPATIBLE (14) until all subscribers leave.
struct Cupti {
  enum { kFree, kProcess, kSubscriber } form = kFree;
  bool alone = false;  // another client's cuptiSubscribe() excludes our subscription
  int subscribers = 0;
  int registration_result = 0;
  std::vector<std::string> calls;

  int process(const char* call) {
    calls.emplace_back(call);
    if (form == kSubscriber) return 14;
    form = kProcess;
    return 0;
  }
  int subscriber(const char* call) {
    calls.emplace_back(call);
    if (form == kProcess) return 14;
    form = kSubscriber;
    return 0;
  }
};
Cupti* cupti = nullptr;

CuptiApi old_api() {
  CuptiApi api;
  api.register_callbacks = [](BufferRequested, BufferCompleted) { return cupti->process("register"); };
  api.enable = [](std::uint32_t) { return cupti->process("enable"); };
  api.enable_and_dump = [](std::uint32_t) { return cupti->process("dump"); };
  api.disable = [](std::uint32_t) { return cupti->process("disable"); };
  api.next_record = [](std::uint8_t*, std::size_t, cupti::Record**) { return cupti->process("next"); };
  api.dropped_records = [](void*, std::uint32_t, std::size_t* n) {
    *n = 3;
    return cupti->process("dropped");
  };
  api.push_external = [](int, std::uint64_t) { return cupti->process("push"); };
  api.pop_external = [](int, std::uint64_t*) { return cupti->process("pop"); };
  api.unsubscribe = [](void*) {
    if (--cupti->subscribers == 0) cupti->form = Cupti::kFree;
    return 0;
  };
  return api;
}
CuptiApi new_api() {
  CuptiApi api = old_api();
  api.subscribe_v2 = [](void** subscriber, ApiCallback callback, void*, SubscriberParameters* p) {
    EXPECT_NE(callback, nullptr);
    EXPECT_EQ(p->struct_size, 40u);
    EXPECT_EQ(p->allow_multiple, 1);
    if (cupti->alone) return 39;
    ++cupti->subscribers;
    *subscriber = cupti;
    return 0;
  };
  api.register_callbacks_v2 = [](void*, SubscriberBufferRequested, SubscriberBufferCompleted) {
    const int result = cupti->subscriber("register_v2");
    return cupti->registration_result != 0 ? cupti->registration_result : result;
  };
  api.enable_v2 = [](void*, std::uint32_t, void*) { return cupti->subscriber("enable_v2"); };
  api.enable_and_dump_v2 = [](void*, std::uint32_t, void*) { return cupti->subscriber("dump_v2"); };
  api.disable_v2 = [](void*, std::uint32_t, void*) { return cupti->subscriber("disable_v2"); };
  api.next_record_v2 = [](void*, std::uint8_t*, std::size_t, cupti::Record**) { return cupti->subscriber("next_v2"); };
  api.dropped_records_v2 = [](void*, void*, std::uint32_t, std::size_t* n) {
    *n = 5;
    return cupti->subscriber("dropped_v2");
  };
  api.push_external_v2 = [](void*, int, std::uint64_t) { return cupti->subscriber("push_v2"); };
  api.pop_external_v2 = [](void*, int, std::uint64_t*) { return cupti->subscriber("pop_v2"); };
  return api;
}

class ActivityScopeTest : public ::testing::Test {
 protected:
  ActivityScopeTest() { cupti = &script_; }
  static void use_all(ActivityScope& scope) {
    cupti::Record* record = nullptr;
    EXPECT_EQ(scope.enable(10), 0);
    EXPECT_EQ(scope.enable_and_dump(8), 0);
    EXPECT_EQ(scope.next_record(nullptr, 0, &record), 0);
    scope.push_external(5, 1);
    scope.pop_external(5);
    EXPECT_EQ(scope.disable(10), 0);
  }
  bool called(const std::string& call) const {
    return std::find(script_.calls.begin(), script_.calls.end(), call) != script_.calls.end();
  }
  const BufferCallbacks callbacks_{};
  Cupti script_;
};

TEST_F(ActivityScopeTest, UsesTheProcessFormBeforeCupti133) {
  const CuptiApi api = old_api();
  ActivityScope scope(api);
  EXPECT_EQ(scope.open(callbacks_), 0);
  use_all(scope);
  EXPECT_FALSE(scope.is_shared());
  EXPECT_EQ(scope.dropped_records(), 3u);
  scope.close();
  EXPECT_FALSE(called("register_v2"));
}

TEST_F(ActivityScopeTest, SubscribesSinceCupti133AndLeavesNothingBehind) {
  const CuptiApi api = new_api();
  ActivityScope scope(api);
  scope.push_external(5, 1);
  EXPECT_EQ(script_.form, Cupti::kFree) << "it is not open yet";
  EXPECT_EQ(scope.open(callbacks_), 0);
  EXPECT_TRUE(scope.is_shared());
  use_all(scope);
  EXPECT_EQ(scope.dropped_records(), 5u);
  EXPECT_EQ(script_.form, Cupti::kSubscriber);
  scope.close();
  scope.pop_external(5);
  EXPECT_EQ(script_.form, Cupti::kFree) << "Kineto, which uses the other form, may come";
  for (const std::string& call : script_.calls) EXPECT_TRUE(call.ends_with("_v2")) << call;
}

// Kineto stays subscribed between two profiles, which excludes other subscribers.
TEST_F(ActivityScopeTest, UsesTheProcessFormBesideASubscriberWithoutSharing) {
  const CuptiApi api = new_api();
  script_.alone = true;
  ActivityScope scope(api);
  EXPECT_EQ(scope.open(callbacks_), 0);
  EXPECT_FALSE(scope.is_shared());
  use_all(scope);
  EXPECT_EQ(script_.form, Cupti::kProcess);
}

TEST_F(ActivityScopeTest, IsRefusedIfTheOtherFormIsInUse) {
  const CuptiApi api = new_api();
  script_.form = Cupti::kProcess;
  ActivityScope process(api);
  EXPECT_EQ(process.open(callbacks_), 0) << "it takes the form that is in use";
  EXPECT_EQ(script_.subscribers, 0);

  script_.form = Cupti::kSubscriber;
  script_.alone = true;
  ActivityScope neither(api);
  EXPECT_EQ(neither.open(callbacks_), 14);
}

}  // namespace
}  // namespace profshim::device
