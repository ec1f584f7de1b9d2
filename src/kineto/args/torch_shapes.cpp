#include <charconv>
#include <functional>
#include <numeric>

#include "torch_args.h"

namespace profshim::kineto {
namespace {

class ListReader {
 public:
  explicit ListReader(std::string_view text) : text_(text) {}
  bool take(char c) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ',')) ++at_;
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool number(std::int64_t& value) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ',')) ++at_;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }
  bool numbers(Shape& shape) {
    for (std::int64_t value = 0; !take(']');) {
      if (!number(value)) return false;
      shape.push_back(value);
    }
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

bool read_input(ListReader& reader, Shapes& shapes) {
  bool is_list = false;
  while (reader.take('[')) {
    is_list = true;
    if (!reader.numbers(shapes.emplace_back())) return false;
  }
  if (is_list) return reader.take(']');
  return reader.numbers(shapes.emplace_back());
}

Shape read_numbers(std::string_view text) {
  ListReader reader(text);
  Shape numbers;
  if (!reader.take('[') || !reader.numbers(numbers)) numbers.clear();
  return numbers;
}

using Product = std::optional<std::uint64_t>;

Product product(std::initializer_list<std::int64_t> factors) {
  std::uint64_t result = 1;
  for (const std::int64_t factor : factors) {
    if (factor < 0 || __builtin_mul_overflow(result, static_cast<std::uint64_t>(factor), &result)) return std::nullopt;
  }
  return result;
}

Product of_matrices(const Shape& a, const Shape& b) {
  if (a.size() == 2 && b.size() == 2) return product({2, a[0], a[1], b[1]});
  if (a.size() == 3 && b.size() == 3) return product({2, a[0], a[1], a[2], b[2]});
  return std::nullopt;
}

Product of_convolution(const std::vector<Shapes>& inputs, const std::vector<std::string_view>& values) {
  constexpr std::size_t kStride = 3, kPadding = 4, kDilation = 5, kGroups = 6;
  if (inputs.size() <= kGroups || values.size() <= kGroups) return std::nullopt;
  const Shape &input = inputs[0].front(), &weight = inputs[1].front();
  const Shape stride = read_numbers(values[kStride]), padding = read_numbers(values[kPadding]),
              dilation = read_numbers(values[kDilation]);
  std::int64_t groups = 0;
  ListReader(values[kGroups]).number(groups);
  if (input.size() != 4 || weight.size() != 4 || stride.size() != 2 || padding.size() != 2 || dilation.size() != 2 ||
      groups < 1 || stride[0] < 1 || stride[1] < 1) {
    return std::nullopt;
  }
  const auto out = [&](std::size_t side) {
    return (input[2 + side] + 2 * padding[side] - dilation[side] * (weight[2 + side] - 1) - 1) / stride[side] + 1;
  };
  const Product all = product({2, input[0], out(0), out(1), weight[2], weight[3], input[1], weight[0]});
  return all ? Product(*all / static_cast<std::uint64_t>(groups)) : all;
}

}  // namespace

std::optional<std::vector<Shapes>> read_shapes(std::string_view dims) {
  ListReader reader(dims);
  if (!reader.take('[')) return std::nullopt;
  std::vector<Shapes> inputs;
  while (!reader.take(']')) {
    if (!reader.take('[') || !read_input(reader, inputs.emplace_back())) return std::nullopt;
  }
  return inputs;
}

std::vector<std::string_view> read_texts(std::string_view list) {
  std::vector<std::string_view> texts;
  for (std::size_t at = list.find('"'); at != std::string_view::npos;) {
    const std::size_t end = list.find('"', at + 1);
    if (end == std::string_view::npos) break;
    texts.push_back(list.substr(at + 1, end - at - 1));
    at = list.find('"', end + 1);
  }
  return texts;
}

std::uint64_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1},
                         [](std::uint64_t all, std::int64_t size) { return all * static_cast<std::uint64_t>(size); });
}

std::optional<std::uint64_t> torch_flops(std::string_view op, std::string_view dims, std::string_view values) {
  struct Formula {
    std::string_view op;
    std::size_t first;  // index of the first input used
    bool is_product;
  };
  constexpr Formula kFormulas[] = {{"aten::mm", 0, true},      {"aten::bmm", 0, true},  {"aten::addmm", 1, true},
                                   {"aten::baddbmm", 1, true}, {"aten::mul", 0, false}, {"aten::add", 0, false}};
  const bool convolution = op == "aten::conv2d";
  const Formula* found = nullptr;
  for (const Formula& formula : kFormulas) {
    if (formula.op == op) found = &formula;
  }
  if (found == nullptr && !convolution) return std::nullopt;
  const auto inputs = read_shapes(dims);
  if (!inputs || inputs->size() < 2) return std::nullopt;
  if (convolution) return of_convolution(*inputs, read_texts(values));
  if (!found->is_product) return elements((*inputs)[0].front());
  if (inputs->size() < found->first + 2) return std::nullopt;
  return of_matrices((*inputs)[found->first].front(), (*inputs)[found->first + 1].front());
}

}  // namespace profshim::kineto
