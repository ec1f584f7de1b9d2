# A program that calls every hook of hooks/cuda.def, and a stub of libcudart and libcuda. Both build without CUDA.

CUDA_CALLS := $(OUT)/tests/apps_cuda/cuda_calls
CUDA_STUB  := $(OUT)/tests/apps_cuda/libcudart-stub.so.13
TEST_APPS  += $(CUDA_CALLS) $(CUDA_STUB)
test-unit: $(CUDA_CALLS) $(CUDA_STUB)

$(CUDA_CALLS): $(call objects,tests/apps_cuda/cuda_calls.cpp inject/cuda/hooks.cpp inject/cuda/kernel_names.cpp inject/cuda/failed_allocation.cpp \
                 $(REAL_FUNCTIONS) $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -rdynamic -o $@ $^ -l:libz.a -ldl -pthread

$(CUDA_STUB): tests/apps_cuda/cuda_stub.c include/profshim/hooks/cuda.def
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -shared -fPIC -Iinclude -Wno-builtin-declaration-mismatch $< -o $@
