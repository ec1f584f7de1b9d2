# Programs that scripts/gpu_check.sh needs on a machine with a GPU. nvcc builds them as users do, with the runtime linked
# dynamically and statically.

GPU_NVCC     := $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
GPU_PROGRAMS := $(BUILD)/tests/gpu/gpu_job_shared $(BUILD)/tests/gpu/gpu_job_static $(BUILD)/tests/gpu/cupti_questions
CHECK_TRACE  := $(BUILD)/tests/gpu/check_trace
CUPTI_WATCH  := $(BUILD)/tests/gpu/cupti_watch.so
# The tests of gpu_check.sh run gpu_job built for the simulated GPU.
GPU_JOB_FAKE := $(if $(NVTX_INCLUDE),$(BUILD)/tests/gpu/gpu_job_fake)
TEST_APPS    += $(CHECK_TRACE) $(CUPTI_WATCH) $(GPU_JOB_FAKE)
# `make test-programs` compiles the programs wherever a toolkit has nvcc, NVTX, CUPTI and the stub of libcuda.
GPU_TOOLKIT  := $(if $(GPU_NVCC),$(dir $(GPU_NVCC))..)
TEST_APPS    += $(if $(and $(GPU_TOOLKIT),$(NVTX_INCLUDE),$(wildcard $(GPU_TOOLKIT)/lib64/stubs/libcuda.so), \
                  $(wildcard $(GPU_TOOLKIT)/include/cupti.h $(GPU_TOOLKIT)/extras/CUPTI/include/cupti.h)),$(GPU_PROGRAMS))

# The folder for the GPU machine: all files that it needs, without debug information.
GPU_BUNDLE := $(BUILD)/gpu
.PHONY: gpu-programs
gpu-programs: all $(CHECK_TRACE) $(CUPTI_WATCH) $(GPU_PROGRAMS)  ## build/gpu, which scripts/gpu_check.sh needs on a GPU; needs nvcc
	$(Q)mkdir -p $(GPU_BUNDLE)
	$(Q)for file in $(SHIM) $(TOOL) $(CHECK_TRACE) $(CUPTI_WATCH) $(GPU_PROGRAMS); do \
	  strip -g -o $(GPU_BUNDLE)/$$(basename $$file) $$file || exit 1; done
	$(Q)du -sh $(GPU_BUNDLE)

# Code for Ampere and Hopper, and PTX for newer GPUs. gpu_job takes only cuLaunchKernel from libcuda itself.
GPU_ARCHITECTURES := -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
                     -gencode arch=compute_90,code=compute_90
$(BUILD)/tests/gpu/gpu_job_%: tests/gpu/gpu_job.cu
	@mkdir -p $(@D)
	@$(if $(V),,echo "  NVCC   $@")
	$(Q)$(GPU_NVCC) -std=c++17 -O2 -cudart $* $(GPU_ARCHITECTURES) $(NVTX_FLAGS) $< -o $@ \
	  -L$(dir $(GPU_NVCC))../lib64/stubs -lcuda -ldl

$(BUILD)/tests/gpu/cupti_questions: tests/gpu/cupti_questions.cu tests/gpu/cupti_session.h
	@mkdir -p $(@D)
	@$(if $(V),,echo "  NVCC   $@")
	$(Q)$(GPU_NVCC) -std=c++17 -O2 -cudart shared $(GPU_ARCHITECTURES) -I$(dir $(GPU_NVCC))../extras/CUPTI/include $< -o $@ \
	  -L$(dir $(GPU_NVCC))../extras/CUPTI/lib64 -L$(dir $(GPU_NVCC))../lib -lcupti

$(BUILD)/tests/gpu/gpu_job_fake: tests/gpu/gpu_job.cu tests/apps_gpu/cuda_api.h \
    $(addprefix $(BUILD)/tests/fakes/cuda13/,libcudart.so.13 libcuda.so.1)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $@")
	$(Q)$(CXX) -std=c++20 -O1 -g -Wall -Wextra -Itests $(NVTX_FLAGS) -x c++ $< -x none -o $@ \
	  -Wl,--allow-shlib-undefined $(filter %.13 %.1,$^) -pthread -ldl

# The fake library provides the SONAME of the real one.
$(CUPTI_WATCH): tests/gpu/cupti_watch.cpp $(BUILD)/tests/fakes/cuda13/libcupti.so.13
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $@")
	$(Q)$(CXX) -std=c++20 -O2 -g -fPIC -fvisibility=hidden $(WARNINGS) -shared -static-libstdc++ -static-libgcc $< -o $@ \
	  -Wl,--no-as-needed $(filter %.13,$^) -ldl

$(CHECK_TRACE): $(OBJ)/tests/gpu/check_trace.o $(call objects,$(call sources,src/analysis src/loop $(SHARED_MODULES))) \
                $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -o $@ $(filter %.o,$^) $(if $(filter release,$(VARIANT)),-static-libstdc++ -static-libgcc) -l:libz.a -ldl -pthread
	@$(call keep_command,$(LINK_COMMAND))
