# MPI programs that reach limits or cause a message of the library.

LIMIT_APPS := $(foreach m,$(MPI_IMPLEMENTATIONS),$(addprefix $(BUILD)/tests/apps_limits/$(m)/, \
              $(basename $(notdir $(wildcard tests/apps_limits/*.c tests/apps_limits/*.cpp)))))
TEST_APPS  += $(LIMIT_APPS)

define limit_rules
$(BUILD)/tests/apps_limits/$(1)/%: tests/apps_limits/%.c
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICC  $$< ($(1))")
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) $$< -o $$@ -lpthread
$(BUILD)/tests/apps_limits/$(1)/%: tests/apps_limits/%.cpp
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICXX $$< ($(1))")
	$$(Q)mpicxx.$(1) -std=c++17 $$(MPI_CFLAGS) $$< -o $$@ -lpthread
endef
$(foreach m,$(MPI_IMPLEMENTATIONS),$(eval $(call limit_rules,$(m))))
