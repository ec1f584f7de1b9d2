# A program that records without hooks, apart from the unit tests, as a process can have only one session. Built like
# them, so that sanitizers see all threads.

SESSION_APP := $(OUT)/tests/apps_session/record_threads
TEST_APPS   += $(SESSION_APP)
test-unit: $(SESSION_APP)

$(SESSION_APP): $(call objects,tests/apps_session/record_threads.cpp $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -l:libz.a -ldl -pthread
