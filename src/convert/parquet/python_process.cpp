#include "python_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "profshim/base/text/message_text.h"
#include "script.h"

namespace profshim::convert_detail {
namespace {

std::string_view type_name(ColumnType type) {
  switch (type) {
    case ColumnType::kInt32:
      return "int32";
    case ColumnType::kInt64:
      return "int64";
    case ColumnType::kDictionary:
      return "dictionary";
    case ColumnType::kText:
      return "text";
  }
  return "";
}

}  // namespace

ParquetProcess::ParquetProcess(const std::string& python) : about_("--python " + python) {
  // Without SIGPIPE, write(2) returns an error if Python has ended.
  signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("cannot create a pipe: ") + error_text(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Without "utf8", the names of files follow the locale.
  std::string words[] = {python, "-X", "utf8", "-c", kColumnsScript};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                             words[3].data(), words[4].data(), nullptr};
  const int error = posix_spawnp(&child_, python.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (error != 0) {
    child_ = -1;
    throw std::runtime_error(about_ + ": cannot start: " + error_text(error));
  }
  expect_ok();
  std::string columns;
  for (const ColumnSpec& spec : kColumnSpecs) ((columns += spec.name) += '=').append(type_name(spec.type)) += ' ';
  send(columns + '\n');
}

ParquetProcess::~ParquetProcess() {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

void ParquetProcess::open(const std::string& path, const std::string& name) {
  about_ = name;
  // Hexadecimal, since the path may hold any byte but 0.
  std::string digits;
  for (const char c : path) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    digits += kDigits[static_cast<unsigned char>(c) >> 4];
    digits += kDigits[static_cast<unsigned char>(c) & 15];
  }
  send("open " + digits + "\n");
}

void ParquetProcess::write(const Batch& batch) {
  const std::size_t rows = batch.rows();
  send("rows " + std::to_string(rows) + "\n");
  for (std::size_t i = 0; i < kColumns; ++i) {
    const Column& column = batch.column(i);
    if (column.is_empty()) {
      send("null\n");
      continue;
    }
    send("here\n");
    send_sized(column.validity(rows));
    send_sized(column.values(rows));
    if (column.type() == ColumnType::kDictionary) send_sized(column.text_offsets());
    if (column.type() == ColumnType::kDictionary || column.type() == ColumnType::kText) send_sized(column.text());
  }
}

void ParquetProcess::close() {
  send("close\n");
  expect_ok();
}

void ParquetProcess::send_sized(std::string_view bytes) {
  send(std::to_string(bytes.size()) + "\n");
  send(bytes);
}

void ParquetProcess::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(to_, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (n < 0 && errno != EINTR) {
      expect_ok();
      fail("the Python process ended early");
    }
  }
}

void ParquetProcess::expect_ok() {
  std::string line;
  for (char c = 0;;) {
    const ssize_t n = ::read(from_, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (c == '\n') {
      if (line == "ok") return;
      fail(line);
    }
    line += c;
  }
  fail("the Python process ended early");
}

void ParquetProcess::fail(const std::string& why) {
  int status = 0;
  std::string how;
  ::close(to_);
  to_ = -1;
  if (child_ > 0 && waitpid(child_, &status, 0) == child_) {
    child_ = -1;
    if (WIFSIGNALED(status)) how = " (signal " + std::to_string(WTERMSIG(status)) + ")";
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      how = " (exit status " + std::to_string(WEXITSTATUS(status)) + ")";
  }
  throw std::runtime_error(about_ + ": " + why + how);
}

}  // namespace profshim::convert_detail
