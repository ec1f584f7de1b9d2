# The library and the tool.

# The modules of the library and those of the tool.
SHARED_MODULES := $(addprefix src/,base window spec json trace run kineto elf write)
INJECTED       := $(filter-out $(if $(NVTX_INCLUDE),%/without_nvtx.cpp,$(filter-out %/without_nvtx.cpp,$(call sources,inject/nvtx))), \
                    $(call sources,inject))
SHIM_SOURCES   := $(INJECTED) $(call sources,src/session src/device src/record src/loop \
                    $(addprefix src/analysis/,model summary memory report/page) $(SHARED_MODULES))
TOOL_SOURCES   := $(call sources,src/cli src/analysis src/convert src/loop $(SHARED_MODULES))

SHIM := $(OUT)/libprofshim.so
TOOL := $(OUT)/profshim

.PHONY: all
all: $(SHIM) $(TOOL)  ## build/libprofshim.so and build/profshim
	@$(if $(NVTX_INCLUDE),,echo "built without NVTX: no ranges are recorded (no nvtx3/nvToolsExtPayload.h; scripts/install_deps.sh looks for it)")

# TARGET.flags holds the command that made TARGET. $$(call if_changed,COMMAND) among the prerequisites of TARGET makes it
# again if COMMAND differs from that; its recipe ends with $(call keep_command,COMMAND).
.SECONDEXPANSION:
if_changed       = $(if $(subst <$(strip $(1))>,,<$(strip $(file <$@.flags))>),command-changed)
keep_command     = printf '%s\n' '$(subst ','\'',$(strip $(1)))' >$@.flags
CXX_COMMAND      = $(CXX) $(COMMON) $(CXXFLAGS) $(PRECOMPILED)
LINK_COMMAND     = $(CXX) $(SAN_LINK) $(LDFLAGS)
if_link_changed  = $(call if_changed,$(LINK_COMMAND))
.PHONY: command-changed
command-changed: ;

# The job's exceptions and cancellations pass through our hooks. A frame that needs cleanup would hand them to our own
# C++ runtime, which would abort.
HOOKS         := $(filter %.cpp,$(call sources,$(addprefix inject/,lookup mpi nccl nvtx cuda torch/calls)))
NO_EXCEPTIONS := -fno-exceptions -fasynchronous-unwind-tables
$(call objects,$(HOOKS)): COMMON += $(NO_EXCEPTIONS)
$(OBJ)/inject/%.o: COMMON += $(NVTX_FLAGS)
# Code that runs once per command, job or page; CLI11 and toml11 take long to optimize.
RUN_ONCE := $(filter %.cpp,$(call sources,src/cli src/spec src/analysis/report))
$(call objects,$(RUN_ONCE)): CXXFLAGS += -O1
# Tests only start programs and compare their output.
$(OBJ)/tests/e2e/%_test.o $(OBJ)/tests/unit/%_test.o: CXXFLAGS += -O0
$(OBJ)/%.o: %.cpp $$(call if_changed,$$(CXX_COMMAND))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $<")
	$(Q)$(CXX_COMMAND) -c $< -o $@
	@$(call keep_command,$(CXX_COMMAND))

# g++ reads src/precompiled.h or tests/precompiled.h before each file, precompiled for each set of options: the build
# takes a quarter less. No file may depend on it: clang (`make lint`) does without.
ifeq (,$(findstring clang,$(CXX)))
PRECOMPILED_COMMON := $(COMMON)
precompiled = $(OBJ)/precompiled/$(1).h
# Arguments: NAME, HEADER, SOURCES
define use_precompiled
$(call objects,$(3)): $(call precompiled,$(1)).gch
$(call objects,$(3)): PRECOMPILED = -fpch-preprocess -Winvalid-pch -include $(call precompiled,$(1))
$(call precompiled,$(1)).gch: $(2)
endef
$(eval $(call use_precompiled,hooks,src/precompiled.h,$(HOOKS)))
$(eval $(call use_precompiled,run_once,src/precompiled.h,$(RUN_ONCE)))
$(eval $(call use_precompiled,src,src/precompiled.h,$(filter-out $(HOOKS) $(RUN_ONCE) src/old_glibc/%,$(filter %.cpp,$(call sources,inject src)))))
$(eval $(call use_precompiled,tests,tests/precompiled.h,$(filter %_test.cpp,$(call sources,tests/unit tests/e2e))))
$(call precompiled,hooks).gch: PRECOMPILED_COMMON += $(NO_EXCEPTIONS)
PRECOMPILED_COMMAND = $(CXX) $(PRECOMPILED_COMMON) $(CXXFLAGS) -x c++-header
$(OBJ)/precompiled/%.h.gch: $$(call if_changed,$$(PRECOMPILED_COMMAND))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $(filter %/precompiled.h,$^) ($*)")
	@cp $(filter %/precompiled.h,$^) $(@:.gch=)
	$(Q)$(PRECOMPILED_COMMAND) -c $(@:.gch=) -o $@
	@$(call keep_command,$(PRECOMPILED_COMMAND))
# Lets ccache recognize a precompiled header by its content.
export CCACHE_SLOPPINESS := pch_defines,time_macros
endif

$(OBJ)/%.o: %.S $$(call if_changed,$$(CXX) $$(ASFLAGS))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  AS     $<")
	$(Q)$(CXX) $(ASFLAGS) -c $< -o $@
	@$(call keep_command,$(CXX) $(ASFLAGS))

# `profshim report` embeds Debian's Chart.js, whose file name depends on its version.
CHART_JS ?= $(firstword $(wildcard $(addprefix /usr/share/javascript/chart.js/,chart.umd.min.js chart.umd.js chart.min.js)))
REPORT_PAGE := src/analysis/report/page
$(OBJ)/$(REPORT_PAGE)/parts.o: ASFLAGS = -DCHART_JS='"$(CHART_JS)"'
$(OBJ)/$(REPORT_PAGE)/parts.o: $(addprefix $(REPORT_PAGE)/page.,html css js) $(or $(CHART_JS),no-chart-js)
# `profshim help` prints the man pages.
PAGES := $(shell find src -name '*.scd')
$(OBJ)/src/cli/pages.o: $(PAGES) src/cli/commands.def

.PHONY: no-chart-js
no-chart-js:
	@echo "Chart.js is missing: scripts/install_deps.sh installs libjs-chart.js; or: make CHART_JS=/path/to/chart.min.js" >&2; exit 1

# Sanitizer variants keep libstdc++ dynamic: their runtime cannot be linked statically into a preloaded library.
# Libraries are named one by one: g++ would leave libm in NEEDED, although unused.
STANDALONE := -nodefaultlibs -Wl,-z,defs -Wl,-Bstatic -lstdc++ -lgcc -lgcc_eh -Wl,-Bdynamic -lc
SHIM_LINK := -Wl,--version-script=inject/exports.map -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete \
             -Wl,--gc-sections -Wl,--hash-style=gnu -Wl,--as-needed $(if $(filter release aarch64,$(VARIANT)),$(STANDALONE))
$(SHIM): $(call objects,$(SHIM_SOURCES)) inject/exports.map $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -shared -o $@ $(filter %.o,$^) -l:libz.a $(SHIM_LINK)
	@$(call keep_command,$(LINK_COMMAND))

$(TOOL): $(call objects,$(TOOL_SOURCES)) $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -o $@ $(filter %.o,$^) -static-libstdc++ $(if $(filter release aarch64,$(VARIANT)),-static-libgcc) -l:libz.a -ldl -pthread
	@$(call keep_command,$(LINK_COMMAND))
