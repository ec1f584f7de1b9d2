# Programs that find MPI by dlsym(), and libraries that stand beside profshim in the order of symbols: tool_*.c are
# preloaded, others are loaded. None is linked to MPI, so that one build serves all MPIs.

LOOKUP      := $(BUILD)/tests/apps_lookup
LOOKUP_APPS := $(addprefix $(LOOKUP)/,by_handle ifunc_user $(patsubst tests/apps_lookup/lib/%.c,lib%.so,$(wildcard tests/apps_lookup/lib/*.c)))
TEST_APPS   += $(LOOKUP_APPS)

# -O2: what calls the real dlsym() must end with a jump, as its comment says.
LOOKUP_CC = $(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra
$(LOOKUP)/lib%.so: tests/apps_lookup/lib/%.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC     $<")
	$(Q)$(LOOKUP_CC) -shared -fPIC $< -o $@ -Wl,-z,now -Wl,--allow-shlib-undefined -ldl
$(LOOKUP)/ifunc_user: tests/apps_lookup/ifunc_user.c $(LOOKUP)/libifunc.so
	@$(if $(V),,echo "  CC     $<")
	$(Q)$(LOOKUP_CC) $^ -o $@ -Wl,-rpath,'$$ORIGIN'
$(LOOKUP)/%: tests/apps_lookup/%.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC     $<")
	$(Q)$(LOOKUP_CC) $< -o $@ -ldl -pthread
