#include <gtest/gtest.h>

#include <fstream>

#include "analysis/merge/rank_trace.h"
#include "unit/temporary_folder.h"

namespace profshim::analysis_detail {
namespace {

std::string parts(std::string_view function) {
  const MessageCall call = message_call(function);
  std::string text;
  if (call.sends) text += " send";
  if (call.receives) text += " receive";
  if (call.slice_sends) text += " slice-send";
  if (call.slice_receives) text += " slice-receive";
  return text.empty() ? "" : text.substr(1);
}

TEST(MergeMessages, TheHookTableSaysWhatACallDoes) {
  for (const char* const name : {"MPI_Send", "MPI_Bsend", "MPI_Ssend_c", "MPI_Rsend", "MPI_Isend", "MPI_Irsend_c",
                                 "MPI_Isendrecv", "MPI_Isendrecv_replace_c"}) {
    EXPECT_EQ(parts(name), "send") << name;
  }
  for (const char* const name : {"MPI_Recv", "MPI_Recv_c"}) EXPECT_EQ(parts(name), "receive") << name;
  for (const char* const name : {"MPI_Irecv", "MPI_Irecv_c", "MPI_Recv_init", "MPI_Recv_init_c"}) {
    EXPECT_EQ(parts(name), "slice-receive") << name;
  }
  for (const char* const name : {"MPI_Send_init", "MPI_Ssend_init_c"}) EXPECT_EQ(parts(name), "slice-send") << name;
  for (const char* const name : {"MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Sendrecv_c"}) {
    EXPECT_EQ(parts(name), "send receive") << name;
  }
  for (const char* const name :
       {"MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Mrecv", "MPI_Imrecv_c", "MPI_Psend_init", "MPI_Precv_init",
        "MPI_Put", "MPI_Get", "MPI_Bcast", "MPI_Send_init_x", "MPI_Start", "send", ""}) {
    EXPECT_EQ(parts(name), "") << name;
  }
}

class MergeMessagesTest : public testing::Test {
 protected:
  Channel channel_of(const std::string& events) {
    const std::string path = folder_.path() + "/a.json";
    std::ofstream(path) << R"({"distributedInfo": {"rank": 0, "world_size": 2,
        "pg_config": [{"pg_name": "fe", "pg_size": 2, "ranks": [0, 1]}]}, "traceEvents": [)"
                        << events << "]}";
    const RankTrace trace = scan_rank_trace(path);
    EXPECT_EQ(trace.error, "");
    EXPECT_EQ(trace.channels.size(), 1u);
    return trace.channels.empty() ? Channel{} : trace.channels.begin()->second;
  }
  static std::string call(const std::string& name, int ts, const std::string& args) {
    return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":9,"tid":9,"ts":)" + std::to_string(ts) +
           R"(,"dur":10,"args":{"comm id":"fe",)" + args + "}}";
  }
  static std::string slice(const std::string& name, int begin, int end, const std::string& args) {
    const auto half = [&](const char* phase, int ts) {
      return std::string(R"({"ph":")") + phase + R"(","cat":"cpu_op","id":3,"name":")" + name +
             R"(","pid":9,"tid":9,"ts":)" + std::to_string(ts) + R"(,"args":{"comm id":"fe",)" + args + "}}";
    };
    return half("b", begin) + "," + half("e", end);
  }
  static std::vector<std::int64_t> times(const std::vector<Endpoint>& ends) {
    std::vector<std::int64_t> found;
    for (const Endpoint& end : ends) found.push_back(end.at_ns / 1000);
    return found;
  }
  using Times = std::vector<std::int64_t>;

  test::TemporaryFolder folder_;
};

TEST_F(MergeMessagesTest, LargeCountsAndExchangesAreSends) {
  const std::string to = R"("dest":1,"tag":5)";
  const Channel channel = channel_of(call("MPI_Send_c", 100, to) + "," + call("MPI_Isendrecv", 200, to) + "," +
                                     slice("MPI_Isendrecv", 200, 250, to) + "," + call("MPI_Send_init", 300, to) + "," +
                                     call("MPI_Start", 400, to) + "," + slice("MPI_Send_init", 400, 450, to));

  EXPECT_EQ(times(channel.sent), (Times{100, 200, 400}));  // a persistent send counts at MPI_Start
  EXPECT_TRUE(channel.received.empty());
}

TEST_F(MergeMessagesTest, ReceivesAreAtTheirEndInTheOrderOfTheirBegin) {
  const std::string from = R"("source":1,"tag":5)";
  const Channel channel = channel_of(slice("MPI_Irecv_c", 100, 190, from) + "," + call("MPI_Irecv_c", 100, from) + "," +
                                     call("MPI_Recv_c", 120, from) + "," + call("MPI_Probe", 140, from) + "," +
                                     call("MPI_Sendrecv_replace", 150, R"("source":1,"tag":8,"recv tag":5)") + "," +
                                     slice("MPI_Recv_init", 300, 350, from));

  EXPECT_EQ(times(channel.received), (Times{190, 130, 160, 350}));
  EXPECT_TRUE(channel.sent.empty());
}

}  // namespace
}  // namespace profshim::analysis_detail
