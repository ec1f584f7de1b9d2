# The fake libcuda, libcudart, libcupti, libnccl and libnvidia-ml simulate a GPU. They need no CUDA header. Each CUDA
# release has a folder for LD_LIBRARY_PATH (build/tests/fakes/cuda13); NVML has its own.

FAKES      := $(BUILD)/tests/fakes
FAKE_LIBS  := $(foreach c,cuda13.3 cuda13.2 cuda13 cuda12 cuda11,$(addprefix $(FAKES)/$(c)/,libcuda.so.1 libnccl.so.2)) \
              $(FAKES)/cuda13.3/libcudart.so.13 $(FAKES)/cuda13.3/libcupti.so.13 \
              $(FAKES)/cuda13.2/libcudart.so.13 $(FAKES)/cuda13.2/libcupti.so.13 \
              $(FAKES)/cuda13/libcudart.so.13 $(FAKES)/cuda13/libcupti.so.13 \
              $(FAKES)/cuda12/libcudart.so.12 $(FAKES)/cuda12/libcupti.so.12 \
              $(FAKES)/cuda11/libcudart.so.11.0 $(FAKES)/cuda11/libcupti.so.11.8
TEST_APPS  += $(FAKE_LIBS)
FAKE_HEADERS := $(wildcard tests/fakes/*.h tests/fakes/*/*.h tests/fakes/*/*.inc)
FAKE_LIBCUDA := $(wildcard tests/fakes/libcuda/*.cpp)
FAKE_CUDART  := $(wildcard tests/fakes/cudart/*.cpp)
FAKE_NCCL    := $(wildcard tests/fakes/nccl/*.cpp)
FAKE_CUBLAS  := $(FAKES)/cuda13/libcublas.so.13
TEST_APPS    += $(FAKE_CUBLAS)
FAKE_CUPTI   := $(wildcard tests/fakes/cupti/*.cpp)

# Sanitizer builds do not instrument the fakes, which belong to the job. The sources of a library are compiled as one
# file, in a quarter of the time. $(5) is the library that names the version script, if it differs from $(1).
define fake_rule
$(1): $(2) $$(FAKE_HEADERS) tests/fakes/$(or $(5),$(notdir $(1))).map
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  FAKE   $$@")
	$$(Q)printf '#include "%s"\n' $(2) | \
	  $$(CXX) -std=c++20 -O2 -g1 -fPIC -fvisibility=hidden -pthread $$(WARNINGS) -I. -Itests $(4) -shared -Wl,-soname,$(notdir $(1)) \
	  -Wl,--version-script=tests/fakes/$(or $(5),$(notdir $(1))).map -Wl,-z,defs -Wl,-z,nodelete -x c++ - -o $$@ $(3)
endef
$(foreach c,cuda13.3 cuda13.2 cuda13 cuda12 cuda11,$(eval $(call fake_rule,$(FAKES)/$(c)/libcuda.so.1,$(FAKE_LIBCUDA),-ldl,$\
  -DFAKE_CUDA_DRIVER_VERSION=$(if $(filter %.3,$(c)),13030,$(if $(filter %.2,$(c)),13020,13000)))))
$(foreach c,cuda13.3 cuda13.2 cuda13 cuda12 cuda11,$(eval $(call fake_rule,$(FAKES)/$(c)/libnccl.so.2,$(FAKE_NCCL),-ldl -lrt,$$(NVTX_FLAGS))))
$(eval $(call fake_rule,$(FAKES)/cuda13.3/libcudart.so.13,$(FAKE_CUDART),-ldl,-DFAKE_CUDART_VERSION=13030))
$(eval $(call fake_rule,$(FAKES)/cuda13.2/libcudart.so.13,$(FAKE_CUDART),-ldl,-DFAKE_CUDART_VERSION=13020))
$(eval $(call fake_rule,$(FAKES)/cuda13.2/libcupti.so.13,$(FAKE_CUPTI),-ldl,-DFAKE_CUPTI_VERSION=130201,libcupti.so.13.2))
$(eval $(call fake_rule,$(FAKES)/cuda13/libcudart.so.13,$(FAKE_CUDART),-ldl,-DFAKE_CUDART_VERSION=13000))
$(eval $(call fake_rule,$(FAKES)/cuda12/libcudart.so.12,$(FAKE_CUDART),-ldl,-DFAKE_CUDART_VERSION=12040))
$(eval $(call fake_rule,$(FAKES)/cuda11/libcudart.so.11.0,$(FAKE_CUDART),-ldl,-DFAKE_CUDART_VERSION=11080))
$(eval $(call fake_rule,$(FAKES)/cuda13.3/libcupti.so.13,$(FAKE_CUPTI),-ldl,-DFAKE_CUPTI_VERSION=130301,libcupti.so.13.3))
$(eval $(call fake_rule,$(FAKES)/cuda13/libcupti.so.13,$(FAKE_CUPTI),-ldl,-DFAKE_CUPTI_VERSION=130001))
$(eval $(call fake_rule,$(FAKES)/cuda12/libcupti.so.12,$(FAKE_CUPTI),-ldl,-DFAKE_CUPTI_VERSION=22))
$(eval $(call fake_rule,$(FAKES)/cuda11/libcupti.so.11.8,$(FAKE_CUPTI),-ldl,-DFAKE_CUPTI_VERSION=18))

$(eval $(call fake_rule,$(FAKE_CUBLAS),tests/fakes/cublas/cublas.cpp,-ldl))

# NVML of a machine, and an NVML that lacks a function.
FAKE_NVML := $(FAKES)/nvml/libnvidia-ml.so.1 $(FAKES)/nvml_without_power/libnvidia-ml.so.1
TEST_APPS += $(FAKE_NVML)
$(eval $(call fake_rule,$(FAKES)/nvml/libnvidia-ml.so.1,tests/fakes/nvml/nvml.cpp))
$(eval $(call fake_rule,$(FAKES)/nvml_without_power/libnvidia-ml.so.1,tests/fakes/nvml/nvml.cpp,,-DFAKE_NVML_WITHOUT_POWER))

# Profiler plugins for NCCL that belong to a job.
USER_PROFILERS := $(foreach version,4 5,$(FAKES)/user_profiler/v$(version)/libnccl-profiler.so)
TEST_APPS      += $(USER_PROFILERS)
$(USER_PROFILERS): $(FAKES)/user_profiler/v%/libnccl-profiler.so: tests/fakes/user_profiler/user_profiler.cpp
	@mkdir -p $(@D)
	@$(if $(V),,echo "  FAKE   $@")
	$(Q)$(CXX) -std=c++20 -O2 -g -fPIC -fvisibility=hidden $(WARNINGS) -DUSER_PROFILER_VERSION=$* -shared $< -o $@

# A library that tells the job a false time.
FALSE_CLOCK := $(FAKES)/false_clock.so
TEST_APPS   += $(FALSE_CLOCK)
$(FALSE_CLOCK): tests/fakes/false_clock/false_clock.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  FAKE   $@")
	$(Q)$(CC) -std=gnu11 -O1 -g -fPIC -Wall -Wextra -shared $< -o $@ -ldl

# `make demo` needs these on a machine without a GPU.
demo-programs: $(addprefix $(FAKES)/cuda13/,libcuda.so.1 libcudart.so.13 libcupti.so.13 libnccl.so.2)
