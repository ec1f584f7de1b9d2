# CUDA programs. g++ builds them against the fakes; nvcc, if installed, builds them as users do
# (build/tests/apps_gpu/nvcc).

GPU_APP_SOURCES := $(wildcard tests/apps_gpu/*.cpp tests/apps_gpu/*/*.cpp)
GPU_APP_HEADERS := $(wildcard tests/apps_gpu/*.h tests/apps_gpu/*/*.h)
GPU_APPS      := $(basename $(notdir $(GPU_APP_SOURCES)))
FAKE_CUDA     := $(BUILD)/tests/fakes/cuda13
GPU_APP_PATHS := $(addprefix $(BUILD)/tests/apps_gpu/,$(GPU_APPS))
NVCC          := $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
NVCC_APPS     := $(if $(NVCC),$(addprefix $(BUILD)/tests/apps_gpu/nvcc/,$(filter-out cublas driver_api nccl_groups nccl_profiled nccl_nonblocking nccl_grow cupti_client cupti_subscriber \
                   $(if $(wildcard $(CUDA_HOME)/include/nccl.h),,ddp),$(GPU_APPS))))
demo-programs: $(filter %/ddp,$(NVCC_APPS))
TEST_APPS     += $(GPU_APP_PATHS) $(NVCC_APPS)

# Programs are linked against the runtime unless a line here says otherwise.
GPU_APP_LIBS_driver_api   := libcuda.so.1
GPU_APP_LIBS_cupti_client := libcudart.so.13 libcupti.so.13
GPU_APP_LIBS_cublas       := libcudart.so.13 libcublas.so.13
GPU_APP_LIBS_ddp          := libcudart.so.13 libnccl.so.2
GPU_APP_LIBS_nccl_groups  := libcudart.so.13 libnccl.so.2
GPU_APP_LIBS_nccl_profiled := libcudart.so.13 libnccl.so.2
GPU_APP_LIBS_nccl_nonblocking := libcudart.so.13 libnccl.so.2
GPU_APP_LIBS_nccl_grow    := libcudart.so.13 libnccl.so.2
GPU_APP_LIBS_cupti_subscriber := libcudart.so.13 libcupti.so.13
GPU_APP_CUDA_cupti_subscriber := $(BUILD)/tests/fakes/cuda13.3
gpu_app_libs = $(addprefix $(or $(GPU_APP_CUDA_$(1)),$(FAKE_CUDA))/,$(or $(GPU_APP_LIBS_$(1)),libcudart.so.13))

define gpu_app_rule
$(BUILD)/tests/apps_gpu/$(1): $(filter %/$(1).cpp,$(GPU_APP_SOURCES)) $(GPU_APP_HEADERS) $(call gpu_app_libs,$(1))
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  CXX    $$@")
	$$(Q)$$(CXX) -std=c++20 -O1 -g -Wall -Wextra $$(NVTX_FLAGS) $$< -o $$@ \
	  -Wl,--allow-shlib-undefined $(call gpu_app_libs,$(1)) -pthread -ldl
endef
$(foreach app,$(GPU_APPS),$(eval $(call gpu_app_rule,$(app))))

# cupti_client with a static copy of CUPTI.
TEST_APPS += $(BUILD)/tests/apps_gpu/cupti_client_static
$(BUILD)/tests/apps_gpu/cupti_client_static: tests/apps_gpu/cupti/cupti_client.cpp $(wildcard tests/fakes/cupti/*.cpp) $(FAKE_HEADERS) tests/apps_gpu/cuda_api.h $(FAKE_CUDA)/libcudart.so.13
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $@")
	$(Q)$(CXX) -std=c++20 -O1 -g $(WARNINGS) -Itests -DFAKE_CUPTI_VERSION=130001 -DFAKE_CUPTI_STATIC $(filter %.cpp,$^) -o $@ \
	  -Wl,--allow-shlib-undefined $(FAKE_CUDA)/libcudart.so.13 -pthread -ldl

$(BUILD)/tests/apps_gpu/nvcc/%: tests/apps_gpu/%.cpp $(GPU_APP_HEADERS)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  NVCC   $@")
	$(Q)$(NVCC) -std=c++17 -O1 -x cu -cudart shared -Wno-deprecated-gpu-targets $< -o $@ $(if $(filter ddp,$*),-lnccl)
