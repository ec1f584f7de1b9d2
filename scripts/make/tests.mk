# Tests, benches and fuzzers.

UNIT_SOURCES := $(filter-out $(if $(NVTX_INCLUDE),,tests/unit/inject/nvtx/%),$(call sources,tests/unit tests/listeners))
E2E_SOURCES  := $(call sources,tests/e2e tests/listeners)
LIB_SOURCES  := $(call sources,src/session src/device src/record src/analysis src/convert src/loop $(SHARED_MODULES))
REAL_FUNCTIONS := $(addprefix inject/core/,loader/before_relocation.cpp loader/loaded_symbol.cpp loader/real_dlsym.cpp loader/real_function.cpp loader/resolve.cpp)
UNIT         := $(OUT)/tests/unit
E2E          := $(OUT)/tests/e2e

$(OBJ)/tests/%.o: COMMON += -Itests -DPROFSHIM_SOURCE_DIR=\"$(CURDIR)\" -DPROFSHIM_BUILD_DIR=\"$(CURDIR)/$(OUT)\" $(NVTX_FLAGS) \
  $(if $(NVTX_INCLUDE),-DPROFSHIM_HAS_NVTX)

# Files of tests are not optimized: of a template, the linker takes the first copy.
tests_last = $(filter-out %_test.o,$(filter %.o,$^)) $(filter %_test.o,$^)
# Links libstdc++ statically, as the library and the tool do: the shared one hides the function that demangles names.
$(UNIT): $(call objects,$(UNIT_SOURCES) $(LIB_SOURCES) $(addprefix src/cli/init/,first_spec.cpp seen_job.cpp) inject/nccl/communicators.cpp inject/start_gate.cpp \
           $(REAL_FUNCTIONS) inject/core/communicators.cpp inject/lookup/hooked_names.cpp $(addprefix inject/torch/,pending_ranges.cpp layout.cpp calls/rpc_request.cpp)) $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -o $@ $(tests_last) -static-libstdc++ -lgtest -lgtest_main -l:libz.a -ldl -pthread
	@$(call keep_command,$(LINK_COMMAND))

$(E2E): $(call objects,$(E2E_SOURCES) $(call sources,src/analysis src/loop $(SHARED_MODULES))) $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -o $@ $(tests_last) -lgtest -lgtest_main -l:libz.a -ldl -pthread
	@$(call keep_command,$(LINK_COMMAND))

# Programs that the tests run: each folder's rules.mk adds its own.
TEST_APPS :=
include $(wildcard tests/*/rules.mk tests/rules.mk)

.PHONY: demo
demo:  ## install, build, record a real MPI program and show what came out
	$(Q)scripts/install_deps.sh --demo
	$(Q)$(AGAIN) all demo-programs
	$(Q)scripts/demo.sh

# ALSO="locale torch" runs more at once, which waits less than one after another: see test-locale and test-torch.
ALSO ?=
.PHONY: test
test:  ## install, build, run all tests, also those of ALSO="locale torch"; the last line is "N passed, N failed"
	$(Q)scripts/install_deps.sh --test
	$(Q)$(AGAIN) test-programs consumers-venv $(if $(filter torch,$(ALSO)),torch-venv)
	$(Q)scripts/run_tests.sh $(UNIT) $(E2E) $(addsuffix :$(E2E),$(ALSO))

# Fetched while the compiler works. Tests that need one are skipped without it.
.PHONY: consumers-venv torch-venv
consumers-venv torch-venv:
	-$(Q)scripts/$(subst -,_,$@).sh >/dev/null

.PHONY: test-steady
test-steady:  ## all tests STEADY_ROUNDS (10) times, in random order, beside busy loops and memory pressure; hours
	$(Q)scripts/install_deps.sh --steady
	$(Q)$(AGAIN) test-programs consumers-venv
	$(Q)scripts/steady_tests.sh $(UNIT) $(E2E)

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

.PHONY: test-tsan
test-tsan:  ## the unit tests with ThreadSanitizer, except those that say NOT_UNDER_TSAN and why
	$(Q)TSAN_OPTIONS="halt_on_error=1 die_after_fork=0 $(TSAN_OPTIONS)" $(AGAIN) VARIANT=tsan $(SANITIZED) test-unit

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

# ---- measuring and fuzzing --------------------------------------------------------------------------------------------

BENCHES := $(patsubst tests/bench/%.cpp,$(OUT)/tests/bench/%,$(wildcard tests/bench/*.cpp))
$(OUT)/tests/bench/%: $(OBJ)/tests/bench/%.o $(call objects,$(LIB_SOURCES)) $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -o $@ $(filter %.o,$^) -l:libz.a -ldl -pthread
	@$(call keep_command,$(LINK_COMMAND))

.PHONY: bench bench-programs
bench:  ## the cost of a hook, a drain, a written event on this machine, into tests/bench/README.md; TRY=1: short, not written
	$(Q)scripts/install_deps.sh --test
	$(Q)$(AGAIN) bench-programs
	-$(Q)scripts/consumers_venv.sh >/dev/null
	$(Q)scripts/bench.sh $(if $(TRY),--try) $(OUT) $(BENCHES)
bench-programs: all $(BENCHES)  ## the programs of `make bench`

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%_fuzz.cpp,$(OUT)/tests/fuzz/%,$(wildcard tests/fuzz/*_fuzz.cpp))
$(OUT)/tests/fuzz/%: $(OBJ)/tests/fuzz/%_fuzz.o $(call objects,$(LIB_SOURCES)) $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -o $@ $(filter %.o,$^) -l:libz.a -ldl -pthread
	@$(call keep_command,$(LINK_COMMAND))

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
