# Format, static checks and rules of the sources.

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
lint: all portable tidy  ## format, clang, clang-tidy, the include rule, changed flags, rebuilds, documents, trace keys, locales, sizes, static objects, exports, the glibc that is needed, scripts
	$(Q)clang-format --dry-run -Werror $(FORMATTED)
	$(Q)printf '%s\n' $(filter %.cpp,$(sort $(SHIM_SOURCES) $(TOOL_SOURCES))) | \
	  xargs -P$$(nproc) -n8 clang++ $(filter-out -MMD -MP,$(COMMON)) $(NVTX_FLAGS) -Werror -fsyntax-only
	$(Q)scripts/check_layers.sh
	$(Q)scripts/check_names.sh
	$(Q)scripts/check_flags.sh
	$(Q)scripts/check_rebuilds.sh
	$(Q)scripts/check_docs.sh
	$(Q)scripts/check_keys.sh
	$(Q)scripts/check_locale.sh $(call objects,$(sort $(SHIM_SOURCES) $(TOOL_SOURCES)))
	$(Q)scripts/check_sizes.sh
	$(Q)scripts/check_statics.sh $(call objects,$(SHIM_SOURCES))
	$(Q)scripts/check_exports.sh $(SHIM)
	$(Q)scripts/check_exports.sh $(PORTABLE)/libprofshim.so
	$(Q)scripts/check_glibc.sh any $(SHIM) $(TOOL)
	$(Q)if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh tests/gpu/checks/*.sh tests/portable/*.sh .ci/run; fi
