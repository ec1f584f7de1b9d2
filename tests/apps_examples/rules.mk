# The jobs of the example specs in tests/golden/good_specs.
EXAMPLE_LIBRARY := $(BUILD)/tests/apps_examples/libtraining_kernels.so
EXAMPLE_CUDA    := $(addprefix $(BUILD)/tests/fakes/cuda13/,libcudart.so.13 libnccl.so.2)
TEST_APPS       += $(EXAMPLE_LIBRARY)

$(EXAMPLE_LIBRARY): tests/apps_examples/training_kernels.cpp $(wildcard tests/apps_gpu/*.h) $(EXAMPLE_CUDA)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $@")
	$(Q)$(CXX) -std=c++20 -O1 -g -Wall -Wextra -Itests $(NVTX_FLAGS) -shared -fPIC $< -o $@ \
	  -Wl,--allow-shlib-undefined $(EXAMPLE_CUDA) -pthread -ldl

ifneq ($(wildcard /usr/bin/mpicxx.openmpi),)
HEAT_GPU  := $(BUILD)/tests/apps_examples/heat_gpu
TEST_APPS += $(HEAT_GPU)

# -rdynamic exports heat_step, as a library would.
$(HEAT_GPU): tests/apps_examples/heat_gpu.cpp $(wildcard tests/apps_gpu/*.h) $(EXAMPLE_CUDA)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  MPICXX $@")
	$(Q)mpicxx.openmpi -std=c++20 -O1 -g -Wall -Wextra -Itests $(NVTX_FLAGS) -rdynamic $< -o $@ -Wno-cast-function-type \
	  -Wl,--allow-shlib-undefined $(firstword $(EXAMPLE_CUDA))
endif
