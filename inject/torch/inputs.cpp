#include "inputs.h"

#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string_view>

#include "ivalue.h"
#include "profshim/recorder.h"
#include "profshim/spool/format.h"

namespace profshim::torch {
namespace {

constinit std::atomic<bool> is_disabled{false};

void disable_inputs() {
  if (is_disabled.exchange(true)) return;
  recorder::missing(
      "torch",
      "the inputs of an operator did not have the memory layout of this PyTorch release: operators have no "
      "shapes, types and values from then on");
}

class JsonText {
 public:
  JsonText(char* room, std::size_t size) : begin_(room), at_(room), end_(room + size) {}
  void clear() {
    at_ = begin_;
    too_long_ = false;
  }
  void put(std::string_view text) {
    if (text.empty()) return;
    if (text.size() > static_cast<std::size_t>(end_ - at_)) {
      too_long_ = true;
      return;
    }
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void put(std::int64_t value) {
    const auto [at, error] = std::to_chars(at_, end_, value);
    if (error != std::errc{}) {
      too_long_ = true;
    } else {
      at_ = at;
    }
  }
  bool too_long() const { return too_long_; }
  std::string_view text() const { return {begin_, static_cast<std::size_t>(at_ - begin_)}; }

 private:
  char* const begin_;
  char* at_;
  char* const end_;
  bool too_long_ = false;
};

/// Element types (c10::Type addresses) of lists of numbers, kept to recognize empty lists of numbers.
class NumberTypes {
 public:
  void learn(const void* type) {
    for (std::atomic<const void*>& known : known_) {
      const void* expected = nullptr;
      if (known.load(std::memory_order_relaxed) == type || known.compare_exchange_strong(expected, type)) return;
      if (expected == type) return;
    }
  }
  bool has(const void* type) const {
    for (const std::atomic<const void*>& known : known_) {
      if (known.load(std::memory_order_relaxed) == type) return type != nullptr;
    }
    return false;
  }

 private:
  std::atomic<const void*> known_[8] = {};
};
constinit NumberTypes number_types;

constexpr std::size_t kLongestList = 30;  // as in PyTorch's profiler

class Description {
 public:
  Description(char* room, std::size_t size, const Layout& layout)
      : layout_(layout),
        dims_(room, size / 4),
        strides_(room + size / 4, size / 4),
        types_(room + size / 4 * 2, size / 4),
        values_(room + size / 4 * 3, size / 4) {}

  bool read(const Values& inputs) {
    for (JsonText* const text : all()) text->clear();
    put_all("[");
    for (std::size_t i = 0; i < inputs.count; ++i) {
      if (i > 0) put_all(", ");
      if (!add(inputs.at(i))) return false;
    }
    put_all("]");
    return true;
  }
  bool too_long() const { return dims_.too_long() || strides_.too_long() || types_.too_long() || values_.too_long(); }
  void store(TorchArgs& args) const {
    args.dims = intern(dims_);
    args.strides = intern(strides_);
    args.types = intern(types_);
    args.values = intern(values_);
  }

 private:
  std::array<JsonText*, 4> all() { return {&dims_, &strides_, &types_, &values_}; }
  static StringId intern(const JsonText& text) {
    return text.too_long() ? 0 : recorder::intern(text.text(), spool::kMaxText);
  }
  void put_all(std::string_view text) {
    for (JsonText* const to : all()) to->put(text);
  }
  bool is_number(std::uint8_t tag) const { return tag >= kTagDouble && tag <= layout_.tag_bool; }
  void put_no_tensor(std::string_view type) {
    dims_.put("[]");
    strides_.put("[]");
    put_type(type);
  }
  void put_type(std::string_view type) {
    types_.put("\"");
    types_.put(type);
    types_.put("\"");
  }

  bool add(Bytes value) {
    const std::uint8_t tag = tag_of(value);
    if (tag == kTagTensor) {
      Tensor tensor;
      if (!add_tensor(value, tensor)) return false;
      put_type(tensor.type);
      values_.put("\"\"");
      return true;
    }
    if (tag == layout_.tag_list) return add_list(load<Bytes>(value));
    put_no_tensor(is_number(tag) ? "Scalar" : "");
    values_.put("\"");
    if (is_number(tag)) put_number(value);
    values_.put("\"");
    return true;
  }

  bool add_tensor(Bytes value, Tensor& tensor) {
    if (!read_tensor(load<Bytes>(value), layout_, tensor)) return false;
    put_numbers(dims_, tensor.has_sizes ? tensor.sizes : nullptr, tensor.dims);
    put_numbers(strides_, tensor.has_strides ? tensor.strides : nullptr, tensor.dims);
    return true;
  }

  static void put_numbers(JsonText& text, Bytes numbers, std::int64_t count) {
    text.put("[");
    for (std::int64_t i = 0; numbers != nullptr && i < count; ++i) {
      if (i > 0) text.put(", ");
      text.put(load<std::int64_t>(numbers + i * 8));
    }
    text.put("]");
  }

  bool add_list(Bytes list) {
    Values values;
    if (list == nullptr || !elements_of(list + layout_.list, values)) return false;
    const std::uint8_t first = values.count > 0 ? tag_of(values.at(0)) : kTagNone;
    if (first == kTagTensor) return add_tensors(values);
    const auto type = load<const void*>(list + layout_.list + kVectorBytes);
    const bool numbers = values.count > 0 ? is_number(first) : number_types.has(type);
    if (values.count > 0 && numbers) number_types.learn(type);
    put_no_tensor(numbers ? "ScalarList" : "");
    values_.put("\"");
    if (values.count == 0) values_.put("[]");
    if (numbers && values.count > 0 && values.count <= kLongestList) {
      values_.put("[");
      for (std::size_t i = 0; i < values.count; ++i) {
        if (i > 0) values_.put(", ");
        put_number(values.at(i));
      }
      values_.put("]");
    }
    values_.put("\"");
    return true;
  }

  bool add_tensors(const Values& values) {
    dims_.put("[");
    strides_.put("[");
    for (std::size_t i = 0; i < values.count; ++i) {
      if (i > 0) dims_.put(", "), strides_.put(", ");
      Tensor tensor;
      if (tag_of(values.at(i)) != kTagTensor || !add_tensor(values.at(i), tensor)) return false;
    }
    dims_.put("]");
    strides_.put("]");
    put_type("TensorList");
    values_.put("\"\"");
    return true;
  }

  // Same text as PyTorch prints for an IValue. Symbolic numbers have no value.
  void put_number(Bytes value) {
    const std::uint8_t tag = tag_of(value);
    if (tag == kTagInt) {
      values_.put(load<std::int64_t>(value));
    } else if (tag == layout_.tag_bool) {
      values_.put(load<std::uint8_t>(value) != 0 ? "True" : "False");
    } else if (tag == kTagDouble) {
      put_double(load<double>(value));
    }
  }

  void put_double(double number) {
    char text[40];
    *std::to_chars(text, text + sizeof text - 1, number, std::chars_format::general, 17).ptr = 0;
    values_.put(text);
    if (std::strspn(text, "-0123456789") == std::strlen(text)) values_.put(".");
  }

  const Layout& layout_;
  JsonText dims_, strides_, types_, values_;
};

}  // namespace

void describe_inputs(const void* record_function, const Layout& layout, TorchArgs& args) {
  if (is_disabled.load(std::memory_order_relaxed)) return;
  Values inputs;
  if (!inputs_of(record_function, layout, inputs)) return disable_inputs();
  if (inputs.count == 0) return;
  char room[8192];
  Description description(room, sizeof room, layout);
  if (!description.read(inputs)) return disable_inputs();
  if (!description.too_long()) return description.store(args);
  // Optimizers have lists of hundreds of tensors.
  static char large_room[4 << 20];
  static constinit std::mutex mutex;
  const std::lock_guard lock(mutex);
  Description again(large_room, sizeof large_room, layout);
  if (again.read(inputs)) again.store(args);
}

std::uint8_t first_element_type(const void* record_function, const Layout& layout) {
  Values inputs;
  if (!inputs_of(record_function, layout, inputs)) return 0;
  for (std::size_t i = 0; i < inputs.count; ++i) {
    Bytes value = inputs.at(i);
    Values inner;
    for (int depth = 0; depth < 2 && tag_of(value) == layout.tag_list; ++depth) {
      const auto list = load<Bytes>(value);
      if (list == nullptr || !elements_of(list + layout.list, inner) || inner.count == 0) break;
      value = inner.at(0);
    }
    Tensor tensor;
    if (tag_of(value) != kTagTensor || !read_tensor(load<Bytes>(value), layout, tensor) || !tensor.defined) continue;
    const auto type = load<std::uint16_t>(load<Bytes>(value) + layout.dtype);
    return type < std::size(kTypes) ? static_cast<std::uint8_t>(type + 1) : 0;
  }
  return 0;
}

const void* find_process_group(const void* record_function, const Layout& layout, bool (*is_group)(const void*)) {
  Values inputs;
  if (!inputs_of(record_function, layout, inputs)) return nullptr;
  for (std::size_t i = 0; i < inputs.count; ++i) {
    if (tag_of(inputs.at(i)) != layout.tag_object) continue;
    const auto object = load<Bytes>(inputs.at(i));
    Values slots;
    // A C++ object has one slot: its address.
    if (object == nullptr || !elements_of(object + layout.slots, slots) || slots.count != 1) continue;
    const auto group = load<const void*>(slots.at(0));
    if (is_group(group)) return group;
  }
  return nullptr;
}

}  // namespace profshim::torch
