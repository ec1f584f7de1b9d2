# A C++ program that links Debian's PyTorch (package libtorch-dev, on which python3-torch depends).
ifneq ($(wildcard /usr/include/ATen/ops/mm.h),)
TEST_APPS += $(BUILD)/tests/apps_torch/products
endif

$(BUILD)/tests/apps_torch/products: tests/apps_torch/products.cpp
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 -O1 -w -isystem /usr/include/torch/csrc/api/include $< -o $@ -lc10 -ltorch_cpu
