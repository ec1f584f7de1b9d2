# Small programs without MPI or NVTX: they must not notice the preloaded library.

HYGIENE_APPS := $(patsubst tests/apps_hygiene/%.c,$(BUILD)/tests/apps_hygiene/%,$(wildcard tests/apps_hygiene/*.c))
TEST_APPS    += $(HYGIENE_APPS)

$(BUILD)/tests/apps_hygiene/%: tests/apps_hygiene/%.c
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC     $<")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra $< -o $@ -pthread
