# Programs that `make demo` runs under the library. They neither link nor mention the library.

MPICC_OPENMPI := $(firstword $(wildcard /usr/bin/mpicc.openmpi) mpicc)
MPICC_MPICH   := $(wildcard /usr/bin/mpicc.mpich)
DEMO_PROGRAMS := $(BUILD)/demo/heat
TEST_APPS     += $(DEMO_PROGRAMS)

# -rdynamic exports heat_step, so that symbol hooks find it as they find functions of libraries.
$(BUILD)/demo/heat: tests/demo/heat.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  MPICC  $<")
	$(Q)$(MPICC_OPENMPI) -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra $(NVTX_FLAGS) -rdynamic \
	  $< -o $@ -lm -ldl

# The GPU part of the demo runs on the simulated GPUs of tests/fakes, or on real GPUs with programs that nvcc built.
.PHONY: demo-programs
demo-programs: $(DEMO_PROGRAMS) $(BUILD)/tests/apps_gpu/ddp  ## the programs of the demo
