# hook_bench runs this program bare and under the library.
$(OUT)/bench/hook_cost: tests/bench/hook_cost.c tests/bench/call_cost.h
	@mkdir -p $(@D)
	@$(if $(V),,echo "  MPICC  $<")
	$(Q)$(firstword $(wildcard /usr/bin/mpicc.openmpi) mpicc) -std=c11 -O2 -Wall -Wextra $(NVTX_FLAGS) $< -o $@ -ldl

bench-programs: $(OUT)/bench/hook_cost

# overhead_share.py runs this loop.
$(OUT)/bench/overhead_loop: tests/bench/overhead_loop.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  MPICC  $<")
	$(Q)$(firstword $(wildcard /usr/bin/mpicc.openmpi) mpicc) -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra $(if $(NVTX_INCLUDE),-isystem $(NVTX_INCLUDE)) $< -o $@ -ldl

bench-programs: $(OUT)/bench/overhead_loop

# gpu_hook_bench runs this program, whose CUDA and NCCL do nothing.
$(OUT)/bench/gpu_cost: tests/bench/gpu_cost.c tests/bench/gpu_stub.c tests/bench/call_cost.h
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC     $<")
	$(Q)$(CC) -O2 -Wall -Wextra -shared -fPIC tests/bench/gpu_stub.c -o $(@D)/libgpu_stub.so
	$(Q)$(CC) -std=c11 -O2 -Wall -Wextra $< -o $@ -L$(@D) -lgpu_stub -Wl,-rpath,$(abspath $(@D))

bench-programs: $(OUT)/bench/gpu_cost

bench-programs: $(OUT)/tests/bench/libtorch_observer.so
$(OUT)/tests/bench/libtorch_observer.so: tests/bench/torch_observer.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -Wall -Wextra -shared -fPIC $< -o $@ -ldl
