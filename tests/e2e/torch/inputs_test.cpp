#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <set>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr const char* kKeys[] = {"Concrete Inputs", "Input type", "Input Strides", "Input Dims", "Sequence number"};
using Operators = std::map<std::string, int>;  // "name | key value | ..."

/// Removes what only one of torch's profiler and profshim records: PyTorch 1 omits shapes of tensor lists, PyTorch 2
/// copies sequence numbers to autograd engine frames.
std::string as_torch_has_it(const std::string& name, const std::string& key, std::string value) {
  if (key == "Sequence number" && name.rfind("autograd::engine::", 0) == 0) return "";
  while (torch_major() < 2) {
    const std::size_t list = value.find("[[", 1), end = value.find("]]", list);
    if (list == std::string::npos || end == std::string::npos) break;
    value.replace(list, end + 2 - list, "[]");
  }
  return " | " + key + " " + value;
}

std::string compact(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

Operators expected_operators(const std::string& path, std::set<std::string>& has) {
  rapidjson::Document json;
  json.Parse(text_of_file(path).c_str());
  Operators operators;
  EXPECT_TRUE(json.IsArray()) << path;
  if (!json.IsArray()) return operators;
  for (const auto& op : json.GetArray()) {
    for (const char* const key : kKeys) {
      if (op["args"].HasMember(key)) has.insert(key);
    }
  }
  for (const auto& op : json.GetArray()) {
    std::string text = op["name"].GetString();
    for (const std::string& key : has) {
      if (op["args"].HasMember(key.c_str())) {
        text += as_torch_has_it(op["name"].GetString(), key, compact(op["args"][key.c_str()]));
      }
    }
    ++operators[text];
  }
  return operators;
}

Operators seen_operators(const SeenTrace& trace, const std::set<std::string>& has) {
  Operators operators;
  const auto compared = trace.calls("compared");
  EXPECT_EQ(compared.size(), 1u);
  if (compared.size() != 1) return operators;
  for (const SeenEvent& e : trace.events) {
    const bool inside = e.tid == compared[0]->tid && e.ts_ns >= compared[0]->ts_ns &&
                        e.ts_ns + e.duration_ns <= compared[0]->ts_ns + compared[0]->duration_ns;
    if (e.phase != "X" || e.category != "cpu_op" || !inside) continue;
    std::string text = e.name;
    for (const std::string& key : has) {
      if (const auto at = e.args.find(key); at != e.args.end()) text += as_torch_has_it(e.name, key, at->second);
    }
    ++operators[text];
  }
  return operators;
}

SeenTrace recorded(const ScratchFolder& scratch, const std::string& keys) {
  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "inputs.py --expected " + (scratch / "expected.json"),
                                        "steps.source=none " + keys));
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
  const auto traces = read_folder(scratch / "traces");
  EXPECT_EQ(traces.size(), 1u) << outcome.err;
  return traces.empty() ? SeenTrace{} : traces[0];
}

/// For all tests that only read it.
const SeenTrace& recorded_by_default() {
  static const SeenTrace trace = recorded(ScratchFolder(), "");
  return trace;
}

RUNS_IN_ONE_PROCESS(TorchInputs);

TEST(TorchInputs, EqualThoseOfTorchsProfiler) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const SeenTrace trace = recorded(scratch, "capture.record_shapes=true");

  EXPECT_EQ(trace.property("problems"), "[]");
  EXPECT_EQ(trace.metadata.count("record_shapes"), 1u);
  std::set<std::string> has;
  const Operators expected = expected_operators(scratch / "expected.json", has);
  EXPECT_GT(expected.size(), 50u);
  EXPECT_TRUE(has.count("Input Dims"));
  const Operators seen = seen_operators(trace, has);
  for (const auto& [text, count] : expected) {
    const auto at = seen.find(text);
    EXPECT_EQ(at == seen.end() ? 0 : at->second, count) << text;
  }
  for (const auto& [text, count] : seen) EXPECT_TRUE(expected.count(text)) << "not told by torch: " << text;
  const Outcome verdict = profshim({"verify", trace.path});
  EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
}

TEST(TorchInputs, AreNotRecordedByDefault) {
  NEEDS_TORCH(1);

  const SeenTrace& trace = recorded_by_default();

  EXPECT_EQ(trace.metadata.count("record_shapes"), 0u);
  for (const SeenEvent& e : trace.events) EXPECT_EQ(e.args.count("Input Dims"), 0u) << e.name;
}

TEST(TorchInputs, GiveTheFloatingPointOperations) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const SeenTrace trace = recorded(scratch, "capture.with_flops=true");

  const auto products = trace.calls("aten::addmm"), convolutions = trace.calls("aten::conv2d");
  ASSERT_FALSE(products.empty());
  ASSERT_FALSE(convolutions.empty());
  EXPECT_EQ(products[0]->args.at("flops"), "192");
  EXPECT_EQ(convolutions[0]->args.at("flops"), "55296");
  EXPECT_EQ(products[0]->args.count("Input Dims"), 0u);
}

TEST(TorchInputs, BackwardFunctionsAreJoinedToTheirOperators) {
  NEEDS_TORCH(1);

  const SeenTrace& trace = recorded_by_default();

  std::map<std::int64_t, std::pair<std::string, std::string>> joined;
  for (const SeenEvent& flow : trace.events) {
    if (flow.category != "fwdbwd") continue;
    for (const SeenEvent& op : trace.events) {
      if (op.phase != "X" || op.tid != flow.tid || op.ts_ns != flow.ts_ns || op.category != "cpu_op") continue;
      if (op.args.count("Sequence number") == 0) continue;
      (flow.phase == "s" ? joined[flow.id].first : joined[flow.id].second) = op.name;
    }
  }
  std::set<std::pair<std::string, std::string>> pairs;
  for (const auto& [id, names] : joined) pairs.insert(names);
  for (const auto& names : {std::pair{"aten::addmm", "AddmmBackward0"}, std::pair{"aten::relu", "ReluBackward0"},
                            std::pair{"aten::pow", "PowBackward0"}, std::pair{"aten::sum", "SumBackward0"}}) {
    EXPECT_TRUE(pairs.count(names)) << names.first;
  }
}

}  // namespace
}  // namespace profshim::e2e
