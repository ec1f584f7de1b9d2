#include "inject/cuda/cupti_clients.h"

#include <gtest/gtest.h>

namespace profshim::cupti {
namespace {

// In a forked child, a lock that another thread held stays locked.
TEST(CuptiClients, WaitForAnAbandonedLockIsBounded) {
  std::atomic_flag flag = ATOMIC_FLAG_INIT;
  flag.test_and_set();
  { const SpinLockGuard lock(flag); }
  EXPECT_FALSE(flag.test()) << "and is open from then on";
}

TEST(CuptiClients, ClientHasStoppedAfterItsLastKindIsDisabled) {
  OtherClients clients;
  EXPECT_FALSE(clients.take_stopped()) << "nobody was ever there";
  clients.on_enable(10);
  clients.on_enable(5);
  EXPECT_FALSE(clients.on_disable(10));
  EXPECT_FALSE(clients.take_stopped());
  EXPECT_TRUE(clients.on_disable(5));
  EXPECT_FALSE(clients.is_recording());
  EXPECT_TRUE(clients.take_stopped());
  EXPECT_FALSE(clients.take_stopped());
  EXPECT_FALSE(clients.on_disable(5)) << "it was off";
}

TEST(CuptiClients, ClientThatStartsAgainHasNotStopped) {
  OtherClients clients;
  clients.on_enable(10);
  clients.on_disable(10);
  clients.on_enable(1);
  EXPECT_FALSE(clients.take_stopped());
  EXPECT_TRUE(clients.is_recording());
  clients.on_finalize();
  EXPECT_FALSE(clients.is_recording());
}

TEST(CuptiClients, ExclusiveClientKeepsOthersOutUntilItUnsubscribes) {
  OtherClients clients;
  int alone = 0, beside = 0;
  clients.on_subscribe(&beside, false);
  EXPECT_FALSE(clients.on_unsubscribe(&beside));
  clients.on_subscribe(&alone, true);
  EXPECT_FALSE(clients.on_unsubscribe(&beside));
  EXPECT_FALSE(clients.on_unsubscribe(nullptr));
  EXPECT_TRUE(clients.on_unsubscribe(&alone));
  EXPECT_FALSE(clients.on_unsubscribe(&alone)) << "already gone";
}

// In CUPTI 13.2, one subscriber may get the records of all clients.
TEST(CuptiClients, KindsGoWithTheSubscriberThatHadAllBuffers) {
  OtherClients clients;
  int subscriber = 0;
  clients.on_subscribe(&subscriber, true);
  clients.on_all_buffers_taken(&subscriber);
  EXPECT_TRUE(clients.is_recording()) << "records of others go to it";
  clients.on_enable(10);
  EXPECT_FALSE(clients.on_disable(10)) << "they still do";
  clients.on_enable(10);
  EXPECT_TRUE(clients.holds(10));
  EXPECT_TRUE(clients.on_unsubscribe(&subscriber));
  EXPECT_FALSE(clients.is_recording());
}

TEST(CuptiClients, ClientCanRecordSingleCallsOnly) {
  OtherClients clients;
  EXPECT_FALSE(clients.on_api_switch(false)) << "it was off";
  clients.on_api_switch(true);
  clients.on_api_switch(true);
  EXPECT_TRUE(clients.is_recording());
  EXPECT_FALSE(clients.on_api_switch(false));
  EXPECT_TRUE(clients.on_api_switch(false));
  EXPECT_FALSE(clients.is_recording());
}

}  // namespace
}  // namespace profshim::cupti
