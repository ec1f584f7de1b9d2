# The command tests run the tool that was built.
test-unit: $(TOOL)

# This test compares with CUDA's headers; it is skipped where there are none.
$(OBJ)/tests/unit/inject/cuda/abi_test.o: COMMON += $(if $(CUDA_INCLUDE),-isystem $(CUDA_INCLUDE))
