# Programs that measure their own memory or need much of it.

MEMORY_APPS := $(foreach m,$(if $(wildcard /usr/bin/mpicc.openmpi),openmpi) $(if $(wildcard /usr/bin/mpicc.mpich),mpich), \
               $(addprefix $(BUILD)/tests/apps_memory/$(m)/,locked memory_use tight))
TEST_APPS   += $(MEMORY_APPS)

define memory_rule
$(BUILD)/tests/apps_memory/$(1)/%: tests/apps_memory/%.c
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICC  $$< ($(1))")
	$$(Q)mpicc.$(1) -std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra $$< -o $$@ -pthread
endef
$(foreach m,openmpi mpich,$(eval $(call memory_rule,$(m))))

# The name is that of PyTorch's library.
CACHING_ALLOCATOR := $(BUILD)/tests/apps_memory/libc10_cuda.so
TEST_APPS         += $(CACHING_ALLOCATOR)
$(CACHING_ALLOCATOR): tests/apps_memory/caching_allocator.cpp $(BUILD)/tests/fakes/cuda13/libcudart.so.13
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CXX    $@")
	$(Q)$(CXX) -O1 -g -Wall -Wextra -shared -fPIC $< -o $@ -Wl,--allow-shlib-undefined $(filter %.13,$^)
