# MPI programs whose use of the system is known.

SYSTEM_APPS := $(foreach m,$(MPI_IMPLEMENTATIONS),$(addprefix $(BUILD)/tests/apps_system/$(m)/,busy_process worked_steps))
TEST_APPS   += $(SYSTEM_APPS)

define system_rule
$(BUILD)/tests/apps_system/$(1)/%: tests/apps_system/%.cpp
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICXX $$< ($(1))")
	$$(Q)mpicxx.$(1) -std=c++17 -O1 -g -Wall -Wextra -Wno-cast-function-type $$< -o $$@
endef
$(foreach m,$(MPI_IMPLEMENTATIONS),$(eval $(call system_rule,$(m))))
