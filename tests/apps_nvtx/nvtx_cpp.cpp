#include <nvtx3/nvtx3.hpp>
#include <stdexcept>

struct solver_domain {
  static constexpr char const* name{"solver"};
};

int main() {
  for (int i = 0; i < 3; ++i) {
    const nvtx3::scoped_range outer("outer");
    const nvtx3::scoped_range_in<solver_domain> inner("inner", nvtx3::payload{i}, nvtx3::rgb{1, 2, 3});
    try {
      const nvtx3::scoped_range thrown("thrown");
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
      nvtx3::mark("caught");
    }
  }
  return 0;
}
