# The program that hook_bench runs, bare and under the library.
$(OUT)/bench/hook_cost: tests/bench/hook_cost.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  MPICC  $<")
	$(Q)$(firstword $(wildcard /usr/bin/mpicc.openmpi) mpicc) -std=c11 -O2 -Wall -Wextra $(if $(NVTX_INCLUDE),-isystem $(NVTX_INCLUDE)) $< -o $@ -ldl

bench: $(OUT)/bench/hook_cost
