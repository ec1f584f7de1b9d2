#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

class Findings {
 public:
  // `what` must be a literal. Equal `item` and `what` make one finding.

  /// An error in every trace: `consumers` stop at it.
  void breaks(std::string_view consumers, int item, std::string_view what, const std::string& where = {}) {
    add(item, true, what, where, consumers);
  }
  /// A promise of profshim's traces: an error in them, a note in others.
  void must(int item, std::string_view what, const std::string& where = {}) { add(item, true, what, where, {}); }
  /// A note in every trace.
  void should(int item, std::string_view what, const std::string& where = {}) { add(item, false, what, where, {}); }
  /// `ours`: the trace is profshim's.
  void move_to(std::vector<Finding>& report, bool ours);

 private:
  struct Entry {
    std::string_view what;
    Finding finding;
  };
  void add(int item, bool must, std::string_view what, const std::string& where, std::string_view consumers);
  std::vector<Entry> entries_;
};

/// Returns "'MPI_Wait' at byte 4711"; cuts long names.
std::string where_is(const ReadEvent& event);
std::string where_is(std::uint64_t offset);

// Consumers whose sources show that they stop, and what they stop at.
namespace consumer {
// hta/common/trace_parser.py
inline constexpr std::string_view kHta = "HTA";
// tb_plugin/torch_tb_profiler/profiler/{data,trace,event_parser,gpu_metrics_parser}.py of Kineto
inline constexpr std::string_view kTensorBoard = "the TensorBoard plugin";
inline constexpr std::string_view kHtaAndTensorBoard = "HTA, the TensorBoard plugin";
// src/trace_processor/importers/json/json_trace_tokenizer.cc
inline constexpr std::string_view kPerfettoAndTensorBoard = "Perfetto, the TensorBoard plugin";
inline constexpr std::string_view kAll = "HTA, the TensorBoard plugin, TraceLens, Perfetto";
}  // namespace consumer

}  // namespace profshim::analysis_detail
