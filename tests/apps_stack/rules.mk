# A library that real interpreters load to read their own stacks. It links everything but libc statically, because the
# interpreter may come from another system. It has no sanitizer, whose runtime would have to be loaded first.

ifeq ($(VARIANT),release)
STACK_PROBE := $(OUT)/tests/apps_stack/libstack_probe.so
TEST_APPS   += $(STACK_PROBE)
test-unit bench-programs: $(STACK_PROBE)

$(STACK_PROBE): $(call objects,tests/apps_stack/stack_probe.cpp $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) -shared $(LDFLAGS) -o $@ $^ -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,nodelete \
	  -l:libz.a -ldl -pthread
endif
