# profshim: the only build. `make help` lists the targets.
#   V=1 shows commands; CXX, CXXFLAGS, PREFIX, DESTDIR, CUDA_HOME are respected; VARIANT=asan|tsan builds with sanitizers.

CXX       ?= g++
CXXFLAGS  ?= -O2 -g
PREFIX    ?= /usr/local
VARIANT   ?= release
BUILD     := build
OBJ       := $(BUILD)/obj/$(VARIANT)
OUT       := $(if $(filter release,$(VARIANT)),$(BUILD),$(BUILD)/$(VARIANT))
Q         := $(if $(V),,@)

# Headers of NVTX (and later CUPTI): the machine's toolkit, else the wheels that scripts/install_deps.sh unpacks.
CUDA_HOME ?= /usr/local/cuda
DEPS      ?= $(BUILD)/deps
NVTX_INCLUDE := $(firstword $(patsubst %/nvtx3/nvToolsExt.h,%,$(wildcard $(CUDA_HOME)/include/nvtx3/nvToolsExt.h \
                $(DEPS)/nvidia/*/include/nvtx3/nvToolsExt.h)))

WARNINGS := -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
COMMON   := -std=c++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -ftls-model=initial-exec -pthread \
            $(WARNINGS) -Iinclude -MMD -MP
ifeq ($(VARIANT),asan)
COMMON   += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SAN_LINK := -fsanitize=address,undefined
endif
ifeq ($(VARIANT),tsan)
COMMON   += -fsanitize=thread
SAN_LINK := -fsanitize=thread
endif

sources   = $(sort $(foreach m,$(1),$(wildcard $(m)/*.cpp)))
objects   = $(patsubst %.cpp,$(OBJ)/%.o,$(1))

# Two programs from one tree: what links where is architecture.
SHARED_MODULES := src/base src/window src/spec src/trace src/output src/spool src/elf
SHIM_SOURCES   := $(call sources,inject src/session src/record $(SHARED_MODULES))
TOOL_SOURCES   := $(call sources,src/cli src/analysis $(SHARED_MODULES))

SHIM := $(OUT)/libprofshim.so
TOOL := $(OUT)/profshim

.PHONY: all
all: $(SHIM) $(TOOL)  ## build/libprofshim.so and build/profshim

$(OBJ)/inject/%.o: COMMON += $(if $(NVTX_INCLUDE),-isystem $(NVTX_INCLUDE))
$(OBJ)/%.o: %.cpp
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $<")
	$(Q)$(CXX) $(COMMON) $(CXXFLAGS) -c $< -o $@

# A sanitizer's runtime cannot be linked statically into a preloaded library: those variants keep libstdc++ dynamic.
SHIM_LINK := -Wl,--version-script=inject/exports.map -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete \
             -Wl,--gc-sections $(if $(filter release,$(VARIANT)),-static-libstdc++ -static-libgcc -Wl,-z,defs)
$(SHIM): $(call objects,$(SHIM_SOURCES)) inject/exports.map
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) -shared $(SAN_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(SHIM_LINK) -l:libz.a -ldl -pthread

$(TOOL): $(call objects,$(TOOL_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ $(if $(filter release,$(VARIANT)),-static-libstdc++ -static-libgcc) -l:libz.a -ldl -pthread

# ---- tests -----------------------------------------------------------------------------------------------------------

UNIT_SOURCES := $(sort $(wildcard tests/unit/*/*.cpp) $(wildcard tests/unit/*.cpp))
E2E_SOURCES  := $(sort $(wildcard tests/e2e/*.cpp))
LIB_SOURCES  := $(call sources,src/session src/record src/analysis $(SHARED_MODULES))
UNIT         := $(OUT)/tests/unit
E2E          := $(OUT)/tests/e2e

$(OBJ)/tests/%.o: COMMON += -Isrc -Itests -I. -DPROFSHIM_SOURCE_DIR=\"$(CURDIR)\" -DPROFSHIM_BUILD_DIR=\"$(CURDIR)/$(OUT)\" $(if $(NVTX_INCLUDE),-isystem $(NVTX_INCLUDE))

$(UNIT): $(call objects,$(UNIT_SOURCES) $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -lgtest -lgtest_main -l:libz.a -ldl -pthread

$(E2E): $(call objects,$(E2E_SOURCES) $(call sources,src/analysis $(SHARED_MODULES)))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -lgtest -lgtest_main -l:libz.a -ldl -pthread

.PHONY: test-unit
test-unit: $(UNIT)  ## the unit tests alone
	$(Q)$(UNIT) --gtest_brief=1

include $(wildcard tests/*/rules.mk tests/rules.mk)

.PHONY: clean
clean:  ## remove everything that was built
	rm -rf $(BUILD)

.PHONY: help
help:  ## this list
	@awk -F ':.*## ' '/^[a-zA-Z_-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

-include $(shell find $(BUILD)/obj/$(VARIANT) -name '*.d' 2>/dev/null)
