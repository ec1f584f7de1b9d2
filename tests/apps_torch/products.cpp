#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <torch/version.h>

#include <cstdio>

int main() {
  at::Tensor matrix = at::ones({4, 4});
  for (int i = 0; i < 10; ++i) matrix = at::mm(matrix, at::ones({4, 4}));
  std::printf("%.0f, PyTorch %s\n", at::sum(matrix).item<double>(), TORCH_VERSION);
}
