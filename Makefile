# `make help` lists the targets.
#   V=1 shows commands; CXX, CXXFLAGS, PREFIX, DESTDIR, CUDA_HOME are respected; VARIANT=asan|tsan builds with sanitizers.

# Uses ccache if installed; `make CXX=g++` does not.
ifeq ($(origin CXX),default)
CXX       := $(if $(shell command -v ccache 2>/dev/null),ccache )g++
endif
# Only lines and functions, for backtraces: full debug information costs a third of the compile time.
CXXFLAGS  ?= -O2 -g1
PREFIX    ?= /usr/local
VARIANT   ?= release
BUILD     := build
OBJ       := $(BUILD)/obj/$(VARIANT)
OUT       := $(if $(filter release,$(VARIANT)),$(BUILD),$(BUILD)/$(VARIANT))
Q         := $(if $(V),,@)

# Headers of CUDA and NVTX: the machine's toolkit, else the wheels that scripts/install_deps.sh unpacks, else Debian's
# nvidia-cuda-dev. NVTX before 3.1 lacks payloads.
CUDA_HOME ?= /usr/local/cuda
DEPS      ?= $(BUILD)/deps
CUDA_INCLUDE := $(firstword $(patsubst %/cuda_runtime_api.h,%,$(wildcard $(CUDA_HOME)/include/cuda_runtime_api.h \
                $(DEPS)/nvidia/*/include/cuda_runtime_api.h)))
NVTX_INCLUDE := $(firstword $(patsubst %/nvtx3/nvToolsExtPayload.h,%,$(wildcard $(addsuffix /nvtx3/nvToolsExtPayload.h, \
                $(CUDA_HOME)/include $(DEPS)/nvidia/*/include /usr/include))))
# /usr/include is searched anyway; if named, it comes before the compiler's own headers.
NVTX_FLAGS   := $(addprefix -isystem ,$(filter-out /usr/include,$(NVTX_INCLUDE)))

# -Wno-ambiguous-reversed-operator is for clang: RapidJSON 1.1 compares iterators ambiguously for C++20.
WARNINGS := -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -Wno-ambiguous-reversed-operator
COMMON   := -std=c++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -ftls-model=initial-exec -fno-math-errno -pthread \
            $(WARNINGS) -Iinclude -Isrc -I. -MMD -MP
ifeq ($(VARIANT),asan)
# RapidJSON adds offsets to null pointers (internal/stack.h).
COMMON   += -fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=undefined \
            -fno-omit-frame-pointer
SAN_LINK := -fsanitize=address,undefined
endif
ifeq ($(VARIANT),tsan)
COMMON   += -fsanitize=thread
SAN_LINK := -fsanitize=thread
endif
ifeq ($(VARIANT),coverage)
# Jobs have threads; many processes write the same files of counts.
COMMON   += --coverage -fprofile-update=atomic
SAN_LINK := --coverage
endif
ifeq ($(VARIANT),fuzz)
COMMON   += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=undefined \
            -DPROFSHIM_SMALL_SPOOL
SAN_LINK := -fsanitize=fuzzer,address,undefined
endif

sources   = $(sort $(shell find $(1) -name '*.cpp' -o -name '*.S'))
objects   = $(addprefix $(OBJ)/,$(addsuffix .o,$(basename $(1))))

# Runs a new make after packages were installed: it sees the new headers.
PARALLEL := $(if $(filter -j% j%,$(MAKEFLAGS)),,-j$(shell nproc))
AGAIN    := $(MAKE) --no-print-directory $(PARALLEL)

include $(addprefix scripts/make/,product.mk packages.mk tests.mk lint.mk)

.PHONY: deps
deps:  ## install what the build needs and this machine lacks
	$(Q)scripts/install_deps.sh

.PHONY: clean
clean:  ## remove everything that was built
	rm -rf $(BUILD)

.PHONY: help
help:  ## this list
	@awk -F ':.*## ' '/^[a-zA-Z0-9_-]+:.*## / {printf "  %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST) | sort

-include $(shell find $(BUILD)/obj/$(VARIANT) -name '*.d' 2>/dev/null)
