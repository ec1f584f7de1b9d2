# What scripts/gpu_check.sh takes along to a machine with a GPU: programs as users build them, by nvcc, with the runtime
# linked dynamically and statically; and the comparison of a trace with what a program says. Only where nvcc is installed.

GPU_NVCC     := $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
GPU_PROGRAMS := $(BUILD)/tests/gpu/gpu_job_shared $(BUILD)/tests/gpu/gpu_job_static $(BUILD)/tests/gpu/cupti_questions
CHECK_TRACE  := $(BUILD)/tests/gpu/check_trace
TEST_APPS    += $(CHECK_TRACE)

# All of it in one small folder, without debug information.
GPU_BUNDLE := $(BUILD)/gpu
.PHONY: gpu-programs
gpu-programs: all $(CHECK_TRACE) $(GPU_PROGRAMS)  ## build/gpu, which scripts/gpu_check.sh needs on a GPU; needs nvcc
	$(Q)mkdir -p $(GPU_BUNDLE)
	$(Q)for file in $(SHIM) $(TOOL) $(CHECK_TRACE) $(GPU_PROGRAMS); do \
	  strip -g -o $(GPU_BUNDLE)/$$(basename $$file) $$file || exit 1; done
	$(Q)du -sh $(GPU_BUNDLE)

# Ampere, Hopper, and PTX for what is newer. cuLaunchKernel is the only thing taken from libcuda itself.
GPU_ARCHITECTURES := -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
                     -gencode arch=compute_90,code=compute_90
$(BUILD)/tests/gpu/gpu_job_%: tests/gpu/gpu_job.cu
	@mkdir -p $(@D)
	@$(if $(V),,echo "  NVCC   $@")
	$(Q)$(GPU_NVCC) -std=c++17 -O2 -cudart $* $(GPU_ARCHITECTURES) $(NVTX_FLAGS) $< -o $@ \
	  -L$(dir $(GPU_NVCC))../lib64/stubs -lcuda -ldl

$(BUILD)/tests/gpu/cupti_questions: tests/gpu/cupti_questions.cu
	@mkdir -p $(@D)
	@$(if $(V),,echo "  NVCC   $@")
	$(Q)$(GPU_NVCC) -std=c++17 -O2 -cudart shared $(GPU_ARCHITECTURES) -I$(dir $(GPU_NVCC))../extras/CUPTI/include $< -o $@ \
	  -L$(dir $(GPU_NVCC))../extras/CUPTI/lib64 -L$(dir $(GPU_NVCC))../lib -lcupti

$(CHECK_TRACE): $(OBJ)/tests/gpu/check_trace.o $(call objects,$(call sources,src/analysis $(SHARED_MODULES)))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ $(if $(filter release,$(VARIANT)),-static-libstdc++ -static-libgcc) -l:libz.a -ldl -pthread
