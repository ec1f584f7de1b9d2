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
COMMON   := -std=c++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -ftls-model=initial-exec -pthread \
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

# Which module is linked into the library and which into the tool.
SHARED_MODULES := $(addprefix src/,base window spec json trace run spool kineto elf perf write)
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
$(OBJ)/%.o: %.cpp
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $<")
	$(Q)$(CXX) $(COMMON) $(CXXFLAGS) $(PRECOMPILED) -c $< -o $@

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
$(OBJ)/precompiled/%.h.gch:
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $< ($*)")
	@cp $< $(@:.gch=)
	$(Q)$(CXX) $(PRECOMPILED_COMMON) $(CXXFLAGS) -x c++-header -c $(@:.gch=) -o $@
# Lets ccache recognize a precompiled header by its content.
export CCACHE_SLOPPINESS := pch_defines,time_macros
endif

$(OBJ)/%.o: %.S
	@mkdir -p $(@D)
	@$(if $(V),,echo "  AS     $<")
	$(Q)$(CXX) $(ASFLAGS) -c $< -o $@

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
$(SHIM): $(call objects,$(SHIM_SOURCES)) inject/exports.map
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) -shared $(SAN_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) -l:libz.a $(SHIM_LINK)

$(TOOL): $(call objects,$(TOOL_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -static-libstdc++ $(if $(filter release aarch64,$(VARIANT)),-static-libgcc) -l:libz.a -ldl -pthread

# ---- for older systems -----------------------------------------------------------------------------------------------

# Links the same objects to glibc 2.28; src/old_glibc defines newer functions. In glibc 2.28, threads and dlopen() are
# in separate libraries, which newer systems keep, empty.
OLD_GLIBC    := 2.28
PORTABLE     := $(BUILD)/portable
PORTABLE_OBJECTS := $(OBJ)/src/old_glibc/forwards.o $(OBJ)/src/old_glibc/functions.o $(OBJ)/src/old_glibc/find_object.o
PORTABLE_LINK := -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--as-needed -Wl,--gc-sections -Wl,--strip-debug
$(OBJ)/src/old_glibc/%.o: COMMON += -ffunction-sections -fdata-sections

.PHONY: portable
portable: $(PORTABLE)/libprofshim.so $(PORTABLE)/profshim  ## the same for glibc 2.28 and newer, into build/portable
	$(Q)scripts/check_glibc.sh $(OLD_GLIBC) $^

$(PORTABLE)/libprofshim.so: $(call objects,$(SHIM_SOURCES)) inject/exports.map $(PORTABLE_OBJECTS)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) -shared $(LDFLAGS) -o $@ $(filter %.o,$^) -l:libz.a $(SHIM_LINK) $(PORTABLE_LINK)

$(PORTABLE)/profshim: $(call objects,$(TOOL_SOURCES)) $(PORTABLE_OBJECTS) $(OBJ)/src/old_glibc/start.o \
                      $(OBJ)/src/old_glibc/tool_forwards.o
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ -static-libstdc++ -static-libgcc -l:libz.a $(PORTABLE_LINK)

# ---- for aarch64 -----------------------------------------------------------------------------------------------------

CACHE        := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/profshim
FOR_AARCH64  := VARIANT=aarch64 CC=aarch64-linux-gnu-gcc CXX="$(if $(findstring ccache,$(CXX)),ccache )aarch64-linux-gnu-g++" \
                LDFLAGS="-L$(CACHE)/aarch64/opt/lib"

.PHONY: aarch64
aarch64:  ## the library and the tool for aarch64, into build/aarch64
	$(Q)scripts/install_deps.sh --aarch64
	$(Q)scripts/aarch64_root.sh
	$(Q)$(AGAIN) $(FOR_AARCH64) all

# ---- tests -----------------------------------------------------------------------------------------------------------

UNIT_SOURCES := $(filter-out $(if $(NVTX_INCLUDE),,tests/unit/inject/nvtx/%),$(call sources,tests/unit))
E2E_SOURCES  := $(call sources,tests/e2e)
LIB_SOURCES  := $(call sources,src/session src/device src/record src/analysis src/convert src/loop $(SHARED_MODULES))
REAL_FUNCTIONS := $(addprefix inject/core/,loader/before_relocation.cpp loader/loaded_symbol.cpp loader/real_dlsym.cpp loader/real_function.cpp loader/resolve.cpp)
UNIT         := $(OUT)/tests/unit
E2E          := $(OUT)/tests/e2e

$(OBJ)/tests/%.o: COMMON += -Itests -DPROFSHIM_SOURCE_DIR=\"$(CURDIR)\" -DPROFSHIM_BUILD_DIR=\"$(CURDIR)/$(OUT)\" $(NVTX_FLAGS) \
  $(if $(NVTX_INCLUDE),-DPROFSHIM_HAS_NVTX)

# Links libstdc++ statically, as the library and the tool do: the shared one hides the function that demangles names.
$(UNIT): $(call objects,$(UNIT_SOURCES) $(LIB_SOURCES) $(addprefix src/cli/init/,first_spec.cpp seen_job.cpp) inject/nccl/communicators.cpp inject/start_gate.cpp \
           $(REAL_FUNCTIONS) inject/core/world_ranks.cpp inject/lookup/hooked_names.cpp $(addprefix inject/torch/,pending_ranges.cpp layout.cpp calls/rpc_request.cpp))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -static-libstdc++ -lgtest -lgtest_main -l:libz.a -ldl -pthread

$(E2E): $(call objects,$(E2E_SOURCES) $(call sources,src/analysis src/loop $(SHARED_MODULES)))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -lgtest -lgtest_main -l:libz.a -ldl -pthread

# Programs that the tests run: each folder's rules.mk adds its own.
TEST_APPS :=
include $(wildcard tests/*/rules.mk tests/rules.mk)

# Runs a new make after packages were installed: it sees the new headers.
PARALLEL := $(if $(filter -j% j%,$(MAKEFLAGS)),,-j$(shell nproc))
AGAIN    := $(MAKE) --no-print-directory $(PARALLEL)

.PHONY: deps
deps:  ## install what the build needs and this machine lacks
	$(Q)scripts/install_deps.sh

.PHONY: demo
demo:  ## install, build, record a real MPI program and show what came out
	$(Q)scripts/install_deps.sh --demo
	$(Q)$(AGAIN) all demo-programs
	$(Q)scripts/demo.sh

.PHONY: test
test:  ## install, build, run all tests; the last line is "N passed, N failed"
	$(Q)scripts/install_deps.sh --test
	$(Q)$(AGAIN) test-programs
	-$(Q)scripts/consumers_venv.sh >/dev/null
	$(Q)scripts/run_tests.sh $(UNIT) $(E2E)

# Runs PyTorch's tests with a newer PyTorch. If it cannot be installed, a line says why, and no test fails.
.PHONY: test-torch test-torch-all
test-torch:  ## the tests with PyTorch once more, with a 2.x of PyPI's in ~/.cache/profshim (1.5 GB)
test-torch-all:  ## also those of processes and folders, which depend little on PyTorch's version
test-torch test-torch-all:
	$(Q)scripts/install_deps.sh --test
	$(Q)$(AGAIN) all $(E2E) $(FAKES)/cuda13/libcuda.so.1
	-$(Q)scripts/consumers_venv.sh >/dev/null
	$(Q)scripts/torch_tests.sh $(if $(findstring all,$@),--all) $(E2E)

.PHONY: test-programs
test-programs: all $(UNIT) $(E2E) test-apps  ## build both test programs and all jobs

.PHONY: unit-programs
unit-programs: all $(UNIT) $(CUDA_CALLS) $(CUDA_STUB) $(SESSION_APP) $(STACK_PROBE) $(TRACE_APP) $(LOCALE_FILES)  ## the unit tests and the programs that they start

.PHONY: test-apps
test-apps: $(TEST_APPS) $(MPI_APPS)  ## the jobs of the end-to-end tests

.PHONY: test-unit
test-unit: all test-apps $(UNIT)  ## the unit tests alone
	$(Q)scripts/run_tests.sh $(UNIT)

.PHONY: test-e2e
test-e2e: $(E2E) all test-apps  ## the end-to-end tests alone
	$(Q)scripts/run_tests.sh $(E2E)

.PHONY: test-locale
test-locale:  ## the core of the end-to-end tests in a German locale; 2 minutes
	$(Q)scripts/install_deps.sh --test
	$(Q)$(AGAIN) $(E2E) all test-apps
	-$(Q)scripts/consumers_venv.sh >/dev/null
	$(Q)scripts/locale_tests.sh $(E2E)

.PHONY: test-e2e-portable
test-e2e-portable: portable $(E2E) all test-apps  ## the end-to-end tests on what `make portable` builds
	$(Q)TESTED_BUILD=$(CURDIR)/$(PORTABLE) scripts/run_tests.sh $(E2E)

.PHONY: test-e2e-clang
test-e2e-clang: $(E2E) all test-apps  ## the end-to-end tests on what clang builds
	$(Q)$(AGAIN) BUILD=$(BUILD)/clang DEPS=$(DEPS) CXX=clang++ all
	$(Q)TESTED_BUILD=$(CURDIR)/$(BUILD)/clang scripts/run_tests.sh $(E2E)

.PHONY: test-portable
test-portable: portable  ## what `make portable` builds, in roots of older systems; needs root and debootstrap
	$(Q)scripts/test_portable.sh

.PHONY: loops
loops: all  ## the table of tests/README.md: the steps that auto finds in the jobs of tests/loops; 10 minutes
	$(Q)scripts/install_deps.sh
	$(Q)scripts/loops.sh --update

.PHONY: test-init
test-init: all  ## `profshim init` on eleven jobs of tests/loops, and each run with the spec that it wrote; 4 minutes
	$(Q)scripts/install_deps.sh
	$(Q)scripts/init_jobs.sh

.PHONY: survey
survey: all  ## every command on each trace file of FOLDER, compared with a reader in Python (SURVEY_PYTHON has pyarrow)
	$(or $(SURVEY_PYTHON),python3) tests/survey/survey.py $(FOLDER) --tool $(TOOL) --output $(BUILD)/survey.md

.PHONY: test-compare
test-compare: all $(BUILD)/tests/apps/openmpi/steps_loop  ## `profshim compare` of 120 pairs of runs beside compilers; 10 minutes
	$(Q)scripts/compare_under_load.sh

.PHONY: test-aarch64
test-aarch64: aarch64  ## MPI jobs with `make aarch64` on an emulated processor
	$(Q)scripts/test_aarch64.sh

.PHONY: test-aarch64-unit
test-aarch64-unit: aarch64  ## the unit tests on an emulated processor
	$(Q)if scripts/test_aarch64.sh --can-run; then $(AGAIN) $(FOR_AARCH64) unit-programs; fi
	$(Q)scripts/test_aarch64.sh --unit

# The report of a sanitizer ends the program, which run_tests.sh counts as a failure; in a job under the library it goes
# to a file that fails the test (tests/e2e/support/machine/sanitizer.cpp).
SANITIZED := CXXFLAGS="-O1 -g" PROFSHIM_TEST_SECONDS=$(or $(PROFSHIM_TEST_SECONDS),7200)
.PHONY: test-asan
test-asan:  ## all tests with AddressSanitizer and UndefinedBehaviorSanitizer
	$(Q)scripts/install_deps.sh --test
	$(Q)$(AGAIN) VARIANT=asan $(SANITIZED) test-programs
	-$(Q)scripts/consumers_venv.sh >/dev/null
	$(Q)$(AGAIN) VARIANT=asan $(SANITIZED) run-tests

.PHONY: run-tests
run-tests:  ## run both test programs as they are built
	$(Q)scripts/run_tests.sh $(UNIT) $(E2E)

.PHONY: golden
golden: $(UNIT)  ## rewrite the traces of tests/golden/gpu; then review the diff
	$(Q)PROFSHIM_RENEW_GOLDEN=1 $(UNIT) --gtest_filter='Golden*' --gtest_brief=1

# Tests with threads. The others use fork() and signals, which ThreadSanitizer changes.
THREADED := SpoolFixture*:SessionTest*:DivideMemory*:KernelNames*:CudaCalls*:*Capture*:BufferGrowth*:LaunchTracker*:$\
            HandleCache*:HandleTable*:HandleTable*:NcclCommunicators*:*GzipSink*:WindowTraceTest*:OpenCallsTest*:WindowCpu*
.PHONY: test-tsan
test-tsan:  ## the unit tests of multithreaded code (recorder, sessions, GPU, gzip) with ThreadSanitizer
	$(Q)TSAN_OPTIONS="halt_on_error=1 die_after_fork=0 $(TSAN_OPTIONS)" GTEST_FILTER="$(THREADED)" \
	  $(AGAIN) VARIANT=tsan CXXFLAGS="-O1 -g" test-unit

.PHONY: coverage
coverage:  ## line coverage of the unit and end-to-end tests by folder; needs gcovr
	$(Q)scripts/install_deps.sh --test
	$(Q)$(AGAIN) VARIANT=coverage CXXFLAGS="-O0 -g" test-programs
	$(Q)find $(BUILD)/obj/coverage -name '*.gcda' -delete
	-$(Q)$(AGAIN) VARIANT=coverage CXXFLAGS="-O0 -g" PROFSHIM_TEST_SECONDS=7200 run-tests
	$(Q)scripts/coverage.sh $(BUILD)/obj/coverage

.PHONY: test-distros
test-distros:  ## both commands of the README, and every compiler, on fresh Debian 12, 13 and testing; as root
	$(Q)scripts/test_distros.sh

# ---- measuring, fuzzing, form ----------------------------------------------------------------------------------------

BENCHES := $(patsubst tests/bench/%.cpp,$(OUT)/tests/bench/%,$(wildcard tests/bench/*.cpp))
$(OUT)/tests/bench/%: $(OBJ)/tests/bench/%.o $(call objects,$(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -l:libz.a -ldl -pthread

.PHONY: bench
bench: all $(BENCHES)  ## the cost of a hook, a drain, a written event on this machine, into tests/bench/README.md
	$(Q)scripts/bench.sh $(OUT) $(BENCHES)

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%_fuzz.cpp,$(OUT)/tests/fuzz/%,$(wildcard tests/fuzz/*_fuzz.cpp))
$(OUT)/tests/fuzz/%: $(OBJ)/tests/fuzz/%_fuzz.o $(call objects,$(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -l:libz.a -ldl -pthread

# Findings stay in build/fuzz/NAME until somebody adds them to the corpus.
.PHONY: fuzz fuzz-run
fuzz:  ## every fuzzer for FUZZ_SECONDS (60); needs clang
	$(Q)scripts/install_deps.sh --all
	$(Q)$(AGAIN) VARIANT=fuzz CXX=clang++ CXXFLAGS="-O1 -g" fuzz-run
fuzz-run: $(FUZZERS)  ## run the fuzzers as they are built
	$(Q)for fuzzer in $(FUZZERS); do \
	  name=$$(basename $$fuzzer); new=$(BUILD)/fuzz/$$name; mkdir -p $$new; echo "== $$name"; \
	  $$fuzzer -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=$$new/ $$new tests/fuzz/corpus/$$name || exit 1; done

FORMATTED = $(shell git ls-files '*.h' '*.cpp' '*.c' 2>/dev/null)
.PHONY: format
format:  ## clang-format on every source
	$(Q)clang-format -i $(FORMATTED)

# The checks are in .clang-tidy. clang-tidy finds no CUDA; NVTX's headers are those of the build.
.PHONY: tidy
tidy:  ## clang-tidy on the sources of the library and the tool
	$(Q)printf '%s\n' $(filter %.cpp,$(sort $(SHIM_SOURCES) $(TOOL_SOURCES))) | \
	  xargs -P$$(nproc) -n8 sh -c 'clang-tidy --quiet "$$@" -- $(filter-out -MMD -MP -W%,$(COMMON)) $(NVTX_FLAGS) 2>/dev/null' tidy

.PHONY: lint
lint: all portable tidy  ## format, clang, clang-tidy, the include rule, trace keys, locales, sizes, static objects, exports, the glibc that is needed, scripts
	$(Q)clang-format --dry-run -Werror $(FORMATTED)
	$(Q)printf '%s\n' $(filter %.cpp,$(sort $(SHIM_SOURCES) $(TOOL_SOURCES))) | \
	  xargs -P$$(nproc) -n8 clang++ $(filter-out -MMD -MP,$(COMMON)) $(NVTX_FLAGS) -Werror -fsyntax-only
	$(Q)scripts/check_layers.sh
	$(Q)scripts/check_keys.sh
	$(Q)scripts/check_locale.sh $(call objects,$(sort $(SHIM_SOURCES) $(TOOL_SOURCES)))
	$(Q)scripts/check_sizes.sh
	$(Q)scripts/check_statics.sh $(call objects,$(SHIM_SOURCES))
	$(Q)scripts/check_exports.sh $(SHIM)
	$(Q)scripts/check_exports.sh $(PORTABLE)/libprofshim.so
	$(Q)scripts/check_glibc.sh any $(SHIM) $(TOOL)
	$(Q)if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh tests/gpu/checks/*.sh tests/portable/*.sh .ci/run; fi

# A page is named by its title line, as in "profshim-merge(1)".
.PHONY: man
man: $(TOOL)  ## man pages of the commands, the spec and the library, into build/man; needs scdoc
	@command -v scdoc >/dev/null || { echo "no scdoc: apt-get install scdoc" >&2; exit 1; }
	@mkdir -p $(BUILD)/man
	$(Q)for page in $(filter-out src/spec/spec.scd,$(PAGES)); do \
	  scdoc <$$page >$(BUILD)/man/$$(sed -n '1s/(\([0-9]\))/.\1/p' $$page) || exit 1; done
	$(Q)scripts/spec_page.sh $(TOOL) | scdoc >$(BUILD)/man/profshim-spec.5

.PHONY: install
install: all  ## PREFIX (/usr/local): bin/profshim, lib/libprofshim.so, and the man pages where scdoc is
	@if command -v scdoc >/dev/null; then $(MAKE) --no-print-directory man; \
	  else echo "no scdoc: the man pages are not installed (profshim help COMMAND prints them)"; fi
	for page in $(BUILD)/man/*; do [ ! -e "$$page" ] || \
	  install -Dm 644 "$$page" $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; done
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/profshim
	install -m 755 $(SHIM) $(DESTDIR)$(PREFIX)/lib/libprofshim.so

.PHONY: clean
clean:  ## remove everything that was built
	rm -rf $(BUILD)

.PHONY: help
help:  ## this list
	@awk -F ':.*## ' '/^[a-zA-Z0-9_-]+:.*## / {printf "  %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST) | sort

-include $(shell find $(BUILD)/obj/$(VARIANT) -name '*.d' 2>/dev/null)
