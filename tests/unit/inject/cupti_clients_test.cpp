#include "inject/cupti_clients.h"

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
  clients.subscribed();
  clients.enabled(10);
  clients.enabled(5);
  clients.disabled(10);
  EXPECT_FALSE(clients.take_silence());
  clients.disabled(5);
  EXPECT_TRUE(clients.take_silence()) << "its subscription is in nobody's way";
  EXPECT_FALSE(clients.take_silence());
  EXPECT_TRUE(clients.anything());
  clients.unsubscribed();
  EXPECT_FALSE(clients.anything());
}

TEST(CuptiClients, OneThatGoesOnHasNotLetGo) {
  Clients clients;
  clients.enabled(10);
  clients.disabled(10);
  clients.enabled(1);
  EXPECT_FALSE(clients.take_silence());
  EXPECT_TRUE(clients.anything());
  clients.finalized();
  EXPECT_FALSE(clients.anything());
}

}  // namespace
}  // namespace profshim::cupti
