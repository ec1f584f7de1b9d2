# Locales for tests, which a program finds by LOCPATH, and programs that run in them. A machine has few locales installed.
TEST_LOCALES := de_DE.UTF-8 fr_FR.UTF-8 fr_FR.ISO-8859-1 hi_IN.UTF-8 tr_TR.UTF-8
LOCALE_FILES := $(TEST_LOCALES:%=$(BUILD)/tests/locales/%/LC_NUMERIC)
LOCALE_APPS  := $(BUILD)/tests/apps_locale/set_locale.so $(MPI_IMPLEMENTATIONS:%=$(BUILD)/tests/apps_locale/%/mpi_calls)
TEST_APPS    += $(LOCALE_FILES) $(LOCALE_APPS)

# localedef makes the folder last: a locale is there whole or not at all.
$(BUILD)/tests/locales/%/LC_NUMERIC:
	@mkdir -p $(BUILD)/tests/locales
	@$(if $(V),,echo "  LOCALE $*")
	$(Q)localedef --no-archive -i $(firstword $(subst ., ,$*)) -f $(lastword $(subst ., ,$*)) $(@D)

$(BUILD)/tests/apps_locale/set_locale.so: tests/apps_locale/set_locale.c
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC -O1 -Wall $< -o $@

define locale_rules
$(BUILD)/tests/apps_locale/$(1)/%: tests/apps_locale/%.cpp
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICXX $$< ($(1))")
	$$(Q)mpicxx.$(1) -std=c++17 $$(MPI_CFLAGS) $$< -o $$@ -lpthread
endef
$(foreach m,$(MPI_IMPLEMENTATIONS),$(eval $(call locale_rules,$(m))))
