# MPI programs without markers, for the search for loops.

LOOP_APPS := $(foreach m,$(MPI_IMPLEMENTATIONS),$(addprefix $(BUILD)/tests/apps_loops/$(m)/, \
               $(basename $(notdir $(wildcard tests/apps_loops/*.c)))))
TEST_APPS += $(LOOP_APPS)

define loop_rules
$(BUILD)/tests/apps_loops/$(1)/%: tests/apps_loops/%.c
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICC  $$< ($(1))")
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) $$< -o $$@
endef
$(foreach m,$(MPI_IMPLEMENTATIONS),$(eval $(call loop_rules,$(m))))
