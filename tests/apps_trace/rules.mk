# A program that writes traces of four ranks with a GPU each from synthetic spools, for the tests of trace readers.
TRACE_APP := $(OUT)/tests/apps_trace/gpu_ranks
TEST_APPS += $(TRACE_APP)

$(TRACE_APP): $(call objects,tests/apps_trace/gpu_ranks.cpp $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -l:libz.a -ldl -pthread
