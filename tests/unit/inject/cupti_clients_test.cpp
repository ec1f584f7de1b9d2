#include "inject/cuda/cupti_clients.h"

#include <gtest/gtest.h>

namespace profshim::cupti {
namespace {

// As in a child of fork() whose parent was just changing something.
TEST(CuptiClients, ALockThatNobodyWillOpenIsNotWaitedForWithoutEnd) {
  std::atomic_flag flag = ATOMIC_FLAG_INIT;
  flag.test_and_set();
  { const Spinning lock(flag); }
  EXPECT_FALSE(flag.test()) << "and is open from then on";
}

TEST(CuptiClients, SilenceIsTheFlushAfterTheLastKindWentOff) {
  Clients clients;
  EXPECT_FALSE(clients.take_silence()) << "nobody was ever there";
  clients.enabled(10);
  clients.enabled(5);
  EXPECT_FALSE(clients.disabled(10));
  EXPECT_FALSE(clients.take_silence());
  EXPECT_TRUE(clients.disabled(5));
  EXPECT_FALSE(clients.records());
  EXPECT_TRUE(clients.take_silence());
  EXPECT_FALSE(clients.take_silence());
  EXPECT_FALSE(clients.disabled(5)) << "it was off";
}

TEST(CuptiClients, OneThatGoesOnHasNotLetGo) {
  Clients clients;
  clients.enabled(10);
  clients.disabled(10);
  clients.enabled(1);
  EXPECT_FALSE(clients.take_silence());
  EXPECT_TRUE(clients.records());
  clients.finalized();
  EXPECT_FALSE(clients.records());
}

TEST(CuptiClients, OneThatIsAloneKeepsOthersOutUntilItUnsubscribes) {
  Clients clients;
  int alone = 0, beside = 0;
  clients.subscribed(&beside, false);
  EXPECT_FALSE(clients.unsubscribed(&beside));
  clients.subscribed(&alone, true);
  EXPECT_FALSE(clients.unsubscribed(&beside));
  EXPECT_FALSE(clients.unsubscribed(nullptr));
  EXPECT_TRUE(clients.unsubscribed(&alone));
  EXPECT_FALSE(clients.unsubscribed(&alone)) << "already gone";
}

// CUPTI 13.2.
TEST(CuptiClients, KindsGoWithTheSubscriberThatHadAllBuffers) {
  Clients clients;
  int subscriber = 0;
  clients.subscribed(&subscriber, true);
  clients.took_all_buffers(&subscriber);
  EXPECT_TRUE(clients.records()) << "records of others go to it";
  clients.enabled(10);
  EXPECT_FALSE(clients.disabled(10)) << "they still do";
  clients.enabled(10);
  EXPECT_TRUE(clients.holds(10));
  EXPECT_TRUE(clients.unsubscribed(&subscriber));
  EXPECT_FALSE(clients.records());
}

TEST(CuptiClients, OneMayRecordSingleCallsOnly) {
  Clients clients;
  EXPECT_FALSE(clients.switched_call(false)) << "it was off";
  clients.switched_call(true);
  clients.switched_call(true);
  EXPECT_TRUE(clients.records());
  EXPECT_FALSE(clients.switched_call(false));
  EXPECT_TRUE(clients.switched_call(false));
  EXPECT_FALSE(clients.records());
}

}  // namespace
}  // namespace profshim::cupti
