#include "profshim/python/calls.h"
#include "window_trace_fixture.h"

namespace profshim::test {
namespace {

using python_calls::CallSite;
using python_calls::Mark;
using python_calls::StackPart;

class PythonCallsTest : public WindowTraceTest {
 protected:
  void SetUp() override {
    WindowTraceTest::SetUp();
    recorder::define(spool::DefinitionKind::kDetail, 0, 0, 0, {spool::kPythonCalls});
    recorder::set_mode(recorder::kArmed, 0);
  }

  /// A function's number is `function`, its name "fN".
  static std::uint32_t site(std::uint32_t function, std::uint64_t module = 0) {
    CallSite site{};
    site.name = recorder::intern((module != 0 ? "Linear" : "f" + std::to_string(function)));
    site.caller = recorder::intern("a.py:1");
    site.function = function;
    site.module = module;
    site.module_type = module != 0 ? 1 : 0;
    return recorder::intern(site.text());
  }
  static std::uint64_t begin(std::uint32_t after, std::uint32_t function) {
    return Mark{after, false, site(function)}.word();
  }
  static std::uint64_t end(std::uint32_t after, std::uint32_t function) { return Mark{after, true, function}.word(); }

  static void commit_marks(Ticks at, std::initializer_list<std::uint64_t> words, HookId hook = HookId::kPythonMarks,
                           StackPart part = StackPart::kFirst) {
    Event event;
    event.begin = event.end = at;
    event.hook = hook;
    if (hook == HookId::kPythonStack) event.stack_part = part;
    std::copy(words.begin(), words.end(), event.python_marks.words);
    recorder::commit(*recorder::this_thread(), event);
  }
  static void commit_stack(Ticks at, std::initializer_list<std::uint64_t> words, StackPart part = StackPart::kFirst) {
    commit_marks(at, words, HookId::kPythonStack, part);
  }

  /// Returns "name begin-end <parent" of each call, in order.
  std::vector<std::string> calls(std::uint64_t window = 0) {
    std::vector<std::string> found;
    std::map<std::string, std::string> names;
    for (const Slice& s : build(window)) {
      const auto id = s.args.find("Python id");
      if (id == s.args.end()) continue;
      names[id->second] = s.name;
      const auto parent = s.args.find("Python parent id");
      const auto at = [](std::int64_t ns) { return std::to_string(ns); };
      found.push_back(s.name + " " + at(s.begin) + "-" + at(s.end) +
                      (parent == s.args.end() ? "" : " <" + names[parent->second]));
    }
    return found;
  }

  void close(Ticks end) { recorder::close_window(*window_, end, 0, spool::WindowEnd::kSchedule, 0); }

  spool::Window* window_ = nullptr;
};

TEST_F(PythonCallsTest, AreMadeOfTheirBeginsAndEnds) {
  window_ = recorder::open_window(1000, 0);
  commit_stack(1000, {begin(0, 1)});
  commit_marks(1100, {begin(0, 2), begin(10, 3), end(20, 3), begin(30, 3), end(40, 3)});
  commit_marks(1200, {end(0, 2)});
  close(2000);

  EXPECT_EQ(calls(),
            (std::vector<std::string>{"f1 1000-2000", "f2 1100-1200 <f1", "f3 1110-1120 <f2", "f3 1130-1140 <f2"}));
  EXPECT_NE(metadata.at("profshim").find("\"problems\":[]"), std::string::npos);
}

TEST_F(PythonCallsTest, EndWhereTheirCallerEndsIfTheirOwnEndIsLost) {
  window_ = recorder::open_window(1000, 0);
  commit_stack(1000, {begin(0, 1)});
  commit_marks(1100, {begin(0, 2), begin(10, 3), end(20, 2), end(30, 77), begin(40, 4)});
  close(2000);

  EXPECT_EQ(calls(),
            (std::vector<std::string>{"f1 1000-2000", "f2 1100-1120 <f1", "f3 1110-1120 <f2", "f4 1140-2000 <f1"}));
}

TEST_F(PythonCallsTest, BeginAnewAfterALoss) {
  window_ = recorder::open_window(1000, 0);
  commit_stack(1000, {begin(0, 1)});
  commit_marks(1100, {begin(0, 2), begin(10, 3)});
  commit_stack(1500, {begin(0, 1), begin(0, 5)}, StackPart::kAfterLoss);
  commit_marks(1600, {end(0, 5)});
  close(2000);

  EXPECT_EQ(calls(), (std::vector<std::string>{"f1 1000-1500", "f2 1100-1500 <f1", "f3 1110-1500 <f2", "f1 1500-2000",
                                               "f5 1500-1600 <f1"}));
}

TEST_F(PythonCallsTest, IgnoreTheStackOfAWindowThatBeganMeanwhile) {
  window_ = recorder::open_window(1000, 0);
  commit_stack(1000, {begin(0, 1)});
  commit_marks(1100, {begin(0, 2)});
  commit_stack(1500, {begin(0, 1), begin(0, 2)});
  commit_marks(1600, {end(0, 2)});
  close(2000);

  EXPECT_EQ(calls(), (std::vector<std::string>{"f1 1000-2000", "f2 1100-1600 <f1"}));
}

TEST_F(PythonCallsTest, ThatGoOnAtTheEndHoldTheOperatorsInThem) {
  window_ = recorder::open_window(1000, 0);
  commit_stack(1000, {begin(0, 1)});
  commit_range(1900, 2100, "crosses");
  commit_marks(1950, {begin(0, 2), begin(100, 3)});
  close(2000);

  EXPECT_EQ(calls(), (std::vector<std::string>{"f1 1000-2100", "f2 1950-2100 <f1"}));
}

TEST_F(PythonCallsTest, OfModulesAreNumberedByClassInTheirOrder) {
  window_ = recorder::open_window(1000, 0);
  const auto module = [](std::uint32_t after, std::uint64_t address) {
    return Mark{after, false, site(9, address)}.word();
  };
  commit_stack(1000, {});
  commit_marks(1100, {module(0, 500), end(1, 9), module(2, 400), end(3, 9)});
  commit_marks(1200, {module(0, 500), end(1, 9)});
  close(2000);

  EXPECT_EQ(calls(), (std::vector<std::string>{"nn.Module: Linear_0 1100-1101", "nn.Module: Linear_1 1102-1103",
                                               "nn.Module: Linear_0 1200-1201"}));
}

TEST_F(PythonCallsTest, ThatBeginLateAreSaidToBeMissing) {
  window_ = recorder::open_window(1'000, 0);
  commit_stack(5'001'000, {begin(0, 1)});
  close(9'000'000);

  EXPECT_EQ(calls().size(), 1u);
  EXPECT_NE(metadata.at("profshim").find("Python calls of the first 5 ms of this window are not recorded"),
            std::string::npos);
}

TEST_F(PythonCallsTest, ThatAreNotThereAreSaidToBeMissing) {
  window_ = recorder::open_window(1000, 0);
  commit_range(1100, 1200, "range");
  close(2000);

  EXPECT_TRUE(calls().empty());
  EXPECT_NE(metadata.at("profshim").find("this window has no Python calls"), std::string::npos);
}

}  // namespace
}  // namespace profshim::test
