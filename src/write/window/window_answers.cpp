#include "window_answers.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "export_file.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"

namespace profshim::write {

MemoryPage::MemoryPage(const Spec& spec, const PublishOptions& options) : spec_(spec), options_(options) {
  if (spec.output.memory_timeline) memory_.emplace(options.memory_page_bytes);
}

std::string MemoryPage::write_page(const std::string& trace) {
  const std::string page = report_page(memory_->report());
  return write_export(spec_, options_, trace, ".memory.html",
                      [&](ByteSink& sink) { return sink.write(page.data(), page.size()); });
}

void MemoryPage::write(run::ManifestWindow& window) {
  if (!memory_) return;
  const std::string why = memory_->has_begun() ? memory_->why_not() : "a killed process wrote the trace";
  try {
    if (!why.empty()) {
      window.memory_page = "failed: " + why;
    } else if (memory_->has_events()) {
      window.memory_page = write_page(window.file);
    }
  } catch (const std::exception& error) {
    window.memory_page = std::string("failed: ") + error.what();
  }
}

namespace {

bool writes_summary(const Spec& spec) {
  return spec.summary.kernels || spec.summary.steps || spec.summary.collectives || !spec.summary.table.empty();
}

std::string as_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TableStyle style_of(const std::string& sort_by, std::int64_t row_limit, const KeyTable& table) {
  TableStyle style;
  style.sort_by = sort_by.empty() || sort_by == "auto" ? std::string(default_sort_key(table)) : sort_by;
  style.row_limit = row_limit;
  return style;
}

std::string window_text(const run::ManifestWindow& window) {
  if (!window.phase.empty()) return window.phase + " " + std::to_string(window.occurrence);
  if (window.first_step > window.last_step) return "window " + std::to_string(window.window);
  if (window.first_step == window.last_step) return "step " + std::to_string(window.first_step);
  return "steps " + std::to_string(window.first_step) + "-" + std::to_string(window.last_step);
}

}  // namespace

WindowAnswers::WindowAnswers(const Spec& spec, const PublishOptions& options)
    : spec_(spec), options_(options), memory_page_(spec, options) {
  if (writes_summary(spec) || spec.output.key_averages) trace_.emplace(options.summary_bytes);
  if (trace_) observers_.add(&trace_->observer());
  observers_.add(memory_page_.observer());
}

std::string WindowAnswers::why_not() {
  return trace_->has_begun() ? trace_->why_not() : "a killed process wrote the trace";
}

const KeyTable& WindowAnswers::table() {
  if (!table_) table_ = trace_->key_averages();
  return *table_;
}

std::string WindowAnswers::json(const run::ManifestWindow& window) {
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.open_object().member("window", window.window);
  const bool has_steps = window.first_step <= window.last_step;
  if (has_steps) json.member("first_step", window.first_step).member("last_step", window.last_step);
  if (!window.phase.empty()) json.member("phase", window.phase).member("occurrence", window.occurrence);
  if (const std::string why = why_not(); !why.empty()) {
    return json.member("left_out", why + "; run: profshim summary FILE").close_object().text();
  }
  if (!spec_.summary.table.empty()) {
    json.key("table").raw(as_line(table_json(table(), style_of(spec_.summary.table[0], -1, table()), {})));
  }
  ViewChoice choice;
  choice.kernels = spec_.summary.kernels;
  choice.steps = spec_.summary.steps;
  choice.comms = spec_.summary.collectives;
  choice.gap_us = static_cast<double>(spec_.summary.gap_us);
  const Views made = trace_->views(choice);
  for (const View& view : made.views) json.key(view.key).raw(as_line(view_json(view)));
  if (!made.warnings.empty()) json.list("warnings", made.warnings);
  return json.close_object().text();
}

void WindowAnswers::write_summary(int rank, run::ManifestWindow& window) {
  // The members of the object, without its braces.
  const std::string answers = json(window);
  SummaryEntry entry{window.file, answers.substr(1, answers.size() - 2)};
  if (options_.on_summary) return options_.on_summary(std::move(entry));
  const int error = add_to_summary(options_.folder, options_.folder_fd, rank, {std::move(entry)});
  if (error != 0) window.summary = std::string("failed: ") + error_text(error);
}

void WindowAnswers::write_tables(run::ManifestWindow& window) {
  if (const std::string why = why_not(); !why.empty()) {
    window.tables = {"failed: " + why};
    return;
  }
  const auto& orders = spec_.summary.table;
  const TableStyle style = style_of(orders.empty() ? "" : orders[0], -1, table());
  const auto write = [&](std::string_view ending, const std::string& text) {
    return write_export(spec_, options_, window.file, ending,
                        [&](ByteSink& sink) { return sink.write(text.data(), text.size()); });
  };
  window.tables = {write(".key_averages.txt", table_text(table(), style)),
                   write(".key_averages.csv", table_csv(table(), style))};
}

std::string WindowAnswers::printed(const run::ManifestWindow& window) {
  std::string text;
  for (const std::string& order : spec_.summary.table) {
    const TableStyle style = style_of(order, spec_.summary.row_limit, table());
    text += window_text(window) + " by " + style.sort_by + ": " + window.file + "\n" + table_text(table(), style);
  }
  return text;
}

void WindowAnswers::write(int rank, run::ManifestWindow& window) {
  memory_page_.write(window);
  if (!trace_) return;
  try {
    if (writes_summary(spec_)) write_summary(rank, window);
    if (spec_.output.key_averages) write_tables(window);
    if (options_.on_table && !spec_.summary.table.empty() && why_not().empty()) options_.on_table(printed(window));
  } catch (const std::exception& error) {
    window.summary = std::string("failed: ") + error.what();
  }
}

}  // namespace profshim::write
