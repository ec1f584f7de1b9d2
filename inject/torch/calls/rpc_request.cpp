#include "rpc_request.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace profshim::torch {
namespace {

enum Type : int {
  kScriptCall = 0x100,
  kPythonCall = 0x102,
  kScriptRemoteCall = 0x104,
  kPythonRemoteCall = 0x105,
  kScriptFetch = 0x107,
  kPythonFetch = 0x108,
  kDelete = 0x10b,
  kFork = 0x10c,
  kAccept = 0x10d,
  kForwardAutograd = 0x10f,
  kBackwardAutograd = 0x111,
  kCleanupAutograd = 0x113,
  kRRefBackward = 0x117,
};

/// Reads a pickle's operations. Source: Lib/pickletools.py of Python 3.14. TorchScript writes a subset
/// (torch/csrc/jit/serialization/pickler.cpp).
class Pickle {
 public:
  explicit Pickle(std::string_view bytes) : rest_(bytes) {}

  enum class Kind : std::uint8_t { kOther, kText, kNumber, kGlobal, kEnd };
  struct Operation {
    Kind kind = Kind::kEnd;
    std::string_view text;
    std::uint64_t number = 0;
  };

  Operation next() {
    if (rest_.empty()) return {};
    const auto code = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    switch (code) {
      case 0x8c:  // SHORT_BINUNICODE
        return text(1);
      case 'X':  // BINUNICODE
        return text(4);
      case 0x8d:  // BINUNICODE8
        return text(8);
      case 'K':  // BININT1, BININT2, BININT
        return number(1);
      case 'M':
        return number(2);
      case 'J':
        return number(4);
      case 0x93:  // STACK_GLOBAL
        return {Kind::kGlobal, {}, 0};
      case 'c':  // GLOBAL
        return skip_lines(2);
      case 'U':
      case 'C':
      case 0x8a:
        return sized(1);
      case 'T':
      case 'B':
      case 0x8b:
        return sized(4);
      case 0x8e:
      case 0x96:
        return sized(8);
      case 0x80:
      case 'h':
      case 'q':
        return skip(1);
      case 'j':
      case 'r':
        return skip(4);
      case 'G':
      case 0x95:  // FRAME
        return skip(8);
      case '.':
        return {};
      default:
        return has_no_argument(code) ? Operation{Kind::kOther, {}, 0} : Operation{};
    }
  }

 private:
  static bool has_no_argument(unsigned char code) {
    constexpr std::string_view kPlain = "()]}012NQRabdelostu\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x94";
    return kPlain.find(static_cast<char>(code)) != std::string_view::npos;
  }
  std::optional<std::uint64_t> take_number(std::size_t bytes) {
    if (rest_.size() < bytes) return std::nullopt;
    std::uint64_t number = 0;
    for (std::size_t i = bytes; i-- > 0;) number = number << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(bytes);
    return number;
  }
  Operation skip(std::uint64_t bytes) {
    if (rest_.size() < bytes) return {};
    rest_.remove_prefix(bytes);
    return {Kind::kOther, {}, 0};
  }
  Operation number(std::size_t bytes) {
    const auto found = take_number(bytes);
    return found ? Operation{Kind::kNumber, {}, *found} : Operation{};
  }
  Operation sized(std::size_t bytes) {
    const auto length = take_number(bytes);
    return length ? skip(*length) : Operation{};
  }
  Operation text(std::size_t bytes) {
    const auto length = take_number(bytes);
    if (!length || *length > rest_.size()) return {};
    const std::string_view found = rest_.substr(0, *length);
    rest_.remove_prefix(found.size());
    return {Kind::kText, found, 0};
  }
  Operation skip_lines(int lines) {
    for (; lines > 0; --lines) {
      const std::size_t at = rest_.find('\n');
      if (at == std::string_view::npos) return {};
      rest_.remove_prefix(at + 1);
    }
    return {Kind::kOther, {}, 0};
  }

  std::string_view rest_;
};

struct Function {
  std::string_view prefix, name;
};

/// Finds `name` in _local_invoke(RRef, name, ...). Source: torch/distributed/rpc/rref_proxy.py.
std::string_view method_of_rref(Pickle pickle) {
  bool in_rref = false;
  int texts = 0;
  for (auto operation = pickle.next(); operation.kind != Pickle::Kind::kEnd; operation = pickle.next()) {
    if (operation.kind != Pickle::Kind::kText) continue;
    if (in_rref && ++texts == 2) return operation.text;  // the first text is the type of the RRef's object
    if (operation.text == "_py_rref_receiver") in_rref = true;
  }
  return {};
}

/// The function in a pickled PythonUDF is the first global after that class. Source:
/// torch/distributed/rpc/internal.py.
Function python_function(std::string_view bytes) {
  Pickle pickle(bytes);
  std::string_view last;
  int globals = 0;
  for (auto operation = pickle.next(); operation.kind != Pickle::Kind::kEnd; operation = pickle.next()) {
    if (operation.kind == Pickle::Kind::kText) last = operation.text;
    if (operation.kind != Pickle::Kind::kGlobal) continue;
    if (++globals == 1 && last != "PythonUDF") return {};
    if (globals < 2) continue;
    if (!last.starts_with("_local_invoke")) return {"", last};
    const std::string_view method = method_of_rref(pickle);
    return method.empty() ? Function{"", last} : Function{"rref.", method};
  }
  return {};
}

/// A Python call's pickle follows a byte: 1 if asynchronous, else 0. No pickle begins with these bytes. Source:
/// torch/csrc/distributed/rpc/python_call.cpp.
std::string_view without_flag(std::string_view payload) {
  const bool has_flag = !payload.empty() && (payload[0] == 0 || payload[0] == 1);
  return payload.substr(has_flag ? 1 : 0);
}

Function function_of(std::string_view payload) {
  payload = without_flag(payload);
  if (const Function function = python_function(payload); !function.name.empty()) return function;
  constexpr std::string_view kOperators = "torch.ops.aten.", kScript = "__torch__.";
  Pickle pickle(payload);
  Function found;
  for (auto operation = pickle.next(); operation.kind != Pickle::Kind::kEnd; operation = pickle.next()) {
    if (operation.kind != Pickle::Kind::kText) continue;
    if (operation.text.starts_with(kOperators)) found = {"aten::", operation.text.substr(kOperators.size())};
    if (operation.text.starts_with(kScript)) found = {"", operation.text};
    if (operation.text.starts_with('\x80')) {  // a Python pickle inside a TorchScript pickle
      if (const Function function = python_function(operation.text); !function.name.empty()) return function;
    }
  }
  return found;
}

/// The payload of a request inside an autograd context ends with a pickle, whose first number is the request's
/// type, and the pickle's length. Source: torch/csrc/distributed/rpc/utils.cpp, writeWrappedPayload.
int wrapped_type(std::string_view payload) {
  constexpr std::size_t kLength = 8;
  if (payload.size() < kLength) return kForwardAutograd;
  std::uint64_t length = 0;
  for (const char byte : payload.substr(payload.size() - kLength))
    length = length << 8 | static_cast<unsigned char>(byte);
  payload.remove_suffix(kLength);
  if (length > payload.size()) return kForwardAutograd;
  Pickle pickle(payload.substr(payload.size() - length));
  auto operation = pickle.next();
  while (operation.kind == Pickle::Kind::kOther) operation = pickle.next();
  return operation.kind == Pickle::Kind::kNumber ? static_cast<int>(operation.number) : kForwardAutograd;
}

const char* kind_of(int type) {
  switch (type) {
    case kScriptCall:
    case kPythonCall:
    case kForwardAutograd:
      return "rpc_call";
    case kScriptRemoteCall:
    case kPythonRemoteCall:
      return "rpc_remote";
    case kScriptFetch:
    case kPythonFetch:
      return "rpc_rref_fetch";
    case kDelete:
      return "rpc_rref_delete";
    case kFork:
      return "rpc_rref_fork";
    case kAccept:
      return "rpc_rref_accept";
    case kRRefBackward:
      return "rpc_rref_backward";
    case kBackwardAutograd:
      return "rpc_backward";
    case kCleanupAutograd:
      return "rpc_cleanup_autograd";
    default:
      return "rpc_message";
  }
}

bool calls_a_function(int type) {
  return type == kScriptCall || type == kPythonCall || type == kScriptRemoteCall || type == kPythonRemoteCall ||
         type == kForwardAutograd;
}

int length_of(std::string_view text) { return static_cast<int>(std::min<std::size_t>(text.size(), 1000)); }

}  // namespace

std::size_t rpc_name(int type, std::string_view payload, std::string_view from, std::string_view to, char* text,
                     std::size_t size) {
  const Function function = calls_a_function(type) ? function_of(payload) : Function{};
  const char* const kind = kind_of(type == kForwardAutograd ? wrapped_type(payload) : type);
  const int length = std::snprintf(text, size, "%s%s%.*s%.*s(%.*s -> %.*s)", kind, function.name.empty() ? "" : "#",
                                   length_of(function.prefix), function.prefix.data(), length_of(function.name),
                                   function.name.data(), length_of(from), from.data(), length_of(to), to.data());
  return length < 0 ? 0 : std::min(static_cast<std::size_t>(length), size - 1);
}

}  // namespace profshim::torch
