# Functions with every kind of entry code for symbol hooks, built with each compiler option that changes entries.

ifneq ($(wildcard /usr/bin/mpicxx.openmpi),)
SYMBOL_FLAGS_plain  := -O2
SYMBOL_FLAGS_debug  := -O0
SYMBOL_FLAGS_fast   := -O3 -mavx2
SYMBOL_FLAGS_small  := -Os
SYMBOL_FLAGS_cet    := -O2 -fcf-protection=full
SYMBOL_FLAGS_fixed  := -O1 -fno-pie -no-pie
TEST_APPS += $(foreach v,plain debug fast small cet fixed,$(BUILD)/tests/apps_symbol/calls_$(v)) \
             $(foreach v,shared static,$(BUILD)/tests/apps_symbol/phases_$(v)) $(BUILD)/tests/apps_symbol/symbol_plugin.so

$(BUILD)/tests/apps_symbol/calls_%: tests/apps_symbol/symbol_calls.cpp
	@mkdir -p $(@D)
	$(Q)mpicxx.openmpi -std=c++20 $(SYMBOL_FLAGS_$*) -DUSE_MPI -Wall -Wextra -Wno-cast-function-type $< -o $@ -pthread -ldl

# An executable with an unwinder of its own sees the frames of phases, too.
PHASES_FLAGS_static := -static-libgcc -static-libstdc++
$(BUILD)/tests/apps_symbol/phases_%: tests/apps_symbol/phase_calls.cpp
	@mkdir -p $(@D)
	$(Q)mpicxx.openmpi -std=c++20 -O2 $(PHASES_FLAGS_$*) -Wall -Wextra -Wno-cast-function-type $< -o $@ -pthread

$(BUILD)/tests/apps_symbol/symbol_plugin.so: tests/apps_symbol/symbol_plugin.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -shared -fPIC $< -o $@
endif
