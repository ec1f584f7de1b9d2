# The library that real interpreters load to look at their own stacks. Everything in it but libc, as the interpreter may
# be one of another system; and no sanitizer, whose runtime would have to be loaded before all else.

ifeq ($(VARIANT),release)
STACK_PROBE := $(OUT)/tests/apps_stack/libstack_probe.so
TEST_APPS   += $(STACK_PROBE)
test-unit bench: $(STACK_PROBE)

$(STACK_PROBE): $(call objects,tests/apps_stack/stack_probe.cpp $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) -shared $(LDFLAGS) -o $@ $^ -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,nodelete \
	  -l:libz.a -ldl -pthread
endif
