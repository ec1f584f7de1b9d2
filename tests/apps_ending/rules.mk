# MPI programs that end in every possible way.

ENDING_APPS := $(foreach m,$(if $(wildcard /usr/bin/mpicxx.openmpi),openmpi) $(if $(wildcard /usr/bin/mpicxx.mpich),mpich), \
               $(addprefix $(BUILD)/tests/apps_ending/$(m)/,ending fork_in_window refused uneven_groups signalled dispositions \
               replaced handlers_in_order raw_fork cpu_limit ends_in_handler cancelled limited))
TEST_APPS   += $(ENDING_APPS)

define ending_rule
$(BUILD)/tests/apps_ending/$(1)/%: tests/apps_ending/%.cpp
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICXX $$< ($(1))")
	$$(Q)mpicxx.$(1) -std=c++17 -O1 -g -Wall -Wextra -Wno-cast-function-type $$< -o $$@
endef
$(foreach m,openmpi mpich,$(eval $(call ending_rule,$(m))))

ENDING_PRELOADS := $(addprefix $(BUILD)/tests/apps_ending/,late_sigaction.so slow_disk.so)
TEST_APPS       += $(ENDING_PRELOADS)
$(ENDING_PRELOADS): $(BUILD)/tests/apps_ending/%.so: tests/apps_ending/%.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC     $<")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g -fPIC -Wall -Wextra -shared $< -o $@
