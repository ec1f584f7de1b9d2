#include "kineto/stacks/folded_stacks.h"

#include <cstring>
#include <map>

#include "profshim/call_stack.h"
#include "profshim/hooks/ids.h"
#include "unit/spool_fixture.h"

namespace profshim::kineto {
namespace {

class TextSink final : public ByteSink {
 public:
  bool write(const char* data, std::size_t size) override {
    text.append(data, size);
    return true;
  }
  bool close() override { return true; }
  std::string text;
};

class FoldedStacksTest : public test::SpoolFixture {
 protected:
  void SetUp() override { make_spool(16); }

  static StringId stack(const std::vector<const char*>& frames) {
    std::string bytes(sizeof(call_stack::Header), 0);
    const call_stack::Header header{static_cast<std::uint16_t>(frames.size()), 0};
    std::memcpy(bytes.data(), &header, sizeof header);
    for (const char* const frame : frames) {
      const StringId id = recorder::intern(frame);
      bytes.append(reinterpret_cast<const char*>(&id), sizeof id);
    }
    return recorder::intern(bytes);
  }

  static Event call(Ticks begin, Ticks end, StringId stack) {
    Event event;
    event.begin = begin * 1000;
    event.end = end * 1000;
    event.hook = hooks::MPI_Barrier;
    event.stack = stack;
    return event;
  }

  /// `device_times`: by place in `events`; null = CPU time.
  static std::string folded(const std::vector<Event>& events,
                            const std::map<std::size_t, Ticks>* device_times = nullptr) {
    const auto spool = view();
    const Definitions definitions(*spool);
    CallStacks stacks(*spool, definitions, spool::kPythonStack | spool::kNativeStack);
    DeviceTimes times;
    if (device_times != nullptr) {
      for (const auto& [at, ticks] : *device_times) times[&events[at]] = ticks * 1000;
    }
    FoldedStacks made(1.0, device_times != nullptr ? &times : nullptr);
    std::vector<const Event*> thread;
    for (const Event& event : events) thread.push_back(&event);
    made.add_thread(thread);
    TextSink sink;
    EXPECT_TRUE(made.write(stacks, sink));
    return sink.text;
  }
};

TEST_F(FoldedStacksTest, HaveTheTimeOfTheirCallsWithoutThoseInside) {
  const StringId outer = stack({"a.py(2): f", "a.py(9): <module>"}), inner = stack({"a.py(5): g"});

  const std::string text = folded({call(1, 101, outer), call(11, 41, inner), call(51, 61, 0), call(201, 205, outer)});

  EXPECT_EQ(text, "a.py(9):_<module>;a.py(2):_f 64\na.py(5):_g 30\n");
}

TEST_F(FoldedStacksTest, HaveTheDeviceTimeOfTheLaunchesInTheirCalls) {
  const StringId outer = stack({"a.py(2): f", "a.py(9): <module>"}), inner = stack({"a.py(5): g"});
  const std::map<std::size_t, Ticks> launched = {{1, 500}, {3, 70}, {4, 9}};

  const std::string text = folded(
      {call(1, 101, outer), call(11, 21, 0), call(31, 61, inner), call(41, 51, 0), call(201, 205, 0)}, &launched);

  EXPECT_EQ(text, "a.py(9):_<module>;a.py(2):_f 500\na.py(5):_g 70\n");
}

TEST_F(FoldedStacksTest, LeaveOutWhatTookNoMicrosecond) { EXPECT_EQ(folded({call(1, 1, stack({"a.py(2): f"}))}), ""); }

TEST_F(FoldedStacksTest, LeaveOutWhatIsNoStack) {
  EXPECT_EQ(folded({call(1, 9, recorder::intern("no stack")), call(11, 19, 0x7fffffff)}), "");
}

}  // namespace
}  // namespace profshim::kineto
