#include "window_answers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "export_name.h"
#include "profshim/base/atomic_file.h"
#include "profshim/json/writer.h"
#include "summary_file.h"

namespace profshim::output {
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

std::string window_text(const ManifestWindow& window) {
  if (!window.phase.empty()) return window.phase + " " + std::to_string(window.occurrence);
  if (window.first_step > window.last_step) return "window " + std::to_string(window.window);
  if (window.first_step == window.last_step) return "step " + std::to_string(window.first_step);
  return "steps " + std::to_string(window.first_step) + "-" + std::to_string(window.last_step);
}

}  // namespace

WindowAnswers::WindowAnswers(const Spec& spec, const PublishOptions& options) : spec_(spec), options_(options) {
  if (writes_summary(spec) || spec.output.key_averages) trace_.emplace(options.summary_bytes);
}

std::string WindowAnswers::json(const ManifestWindow& window) {
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.open_object().member("window", window.window);
  const bool has_steps = window.first_step <= window.last_step;
  if (has_steps) json.member("first_step", window.first_step).member("last_step", window.last_step);
  if (!window.phase.empty()) json.member("phase", window.phase).member("occurrence", window.occurrence);
  if (!trace_->has_begun() || !trace_->why_not().empty()) {
    const std::string why = trace_->has_begun() ? trace_->why_not() : "a killed process wrote the trace";
    return json.member("left_out", why + "; run: profshim summary FILE").close_object().text();
  }
  if (!spec_.summary.table.empty()) {
    const KeyTable table = trace_->key_averages();
    json.key("table").raw(as_line(table_json(table, style_of(spec_.summary.table[0], -1, table), {})));
  }
  ViewChoice choice;
  choice.kernels = spec_.summary.kernels;
  choice.steps = spec_.summary.steps;
  choice.comms = spec_.summary.collectives;
  choice.gap_us = static_cast<double>(spec_.summary.gap_us);
  Views made = trace_->views(choice);
  for (const View& view : made.views) json.key(view.key).raw(as_line(view_json(view)));
  if (!made.warnings.empty()) json.list("warnings", made.warnings);
  return json.close_object().text();
}

std::string WindowAnswers::write_file(const std::string& name, const std::string& text, bool recovered) {
  AtomicFile file;
  const auto existing =
      spec_.output.overwrite == Overwrite::kYes ? AtomicFile::Existing::kReplace : AtomicFile::Existing::kKeepExisting;
  const bool whole = file.open(options_.folder, name, options_.folder_fd) && file.write(text.data(), text.size()) &&
                     file.publish(existing);
  if (whole || (recovered && file.error() == EEXIST)) return name;
  return std::string("failed: ") + std::strerror(file.error() != 0 ? file.error() : EIO);
}

void WindowAnswers::write_tables(ManifestWindow& window, const KeyTable& table) {
  const auto& orders = spec_.summary.table;
  const TableStyle style = style_of(orders.empty() ? "" : orders[0], -1, table);
  window.tables = {
      write_file(export_name(window.file, ".key_averages.txt"), table_text(table, style), window.recovered),
      write_file(export_name(window.file, ".key_averages.csv"), table_csv(table, style), window.recovered)};
}

std::string WindowAnswers::printed(const ManifestWindow& window, const KeyTable& table) const {
  std::string text;
  for (const std::string& order : spec_.summary.table) {
    const TableStyle style = style_of(order, spec_.summary.row_limit, table);
    text += window_text(window) + " by " + style.sort_by + ": " + window.file + "\n" + table_text(table, style);
  }
  return text;
}

void WindowAnswers::write(int rank, ManifestWindow& window) {
  if (!trace_) return;
  try {
    if (writes_summary(spec_)) {
      // The members of the object, without its braces.
      const std::string answers = json(window);
      const int error =
          add_to_summary(options_.folder, options_.folder_fd, rank, window.file, answers.substr(1, answers.size() - 2));
      if (error != 0) window.summary = std::string("failed: ") + std::strerror(error);
    }
    if (!spec_.output.key_averages && (spec_.summary.table.empty() || !options_.on_table)) return;
    if (!trace_->has_begun() || !trace_->why_not().empty()) {
      if (spec_.output.key_averages) window.tables = {"failed: " + trace_->why_not()};
      return;
    }
    const KeyTable table = trace_->key_averages();
    if (spec_.output.key_averages) write_tables(window, table);
    if (!spec_.summary.table.empty() && options_.on_table) options_.on_table(printed(window, table));
  } catch (const std::exception& error) {
    window.summary = std::string("failed: ") + error.what();
  }
}

}  // namespace profshim::output
