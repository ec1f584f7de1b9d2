# The command tests run the tool that was built.
test-unit: $(TOOL)

# The one test that compares with CUDA's headers; it skips where there are none.
$(OBJ)/tests/unit/inject/cuda/abi_test.o: COMMON += $(if $(CUDA_INCLUDE),-isystem $(CUDA_INCLUDE))
