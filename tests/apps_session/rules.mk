# The recording in a process of its own, without a hook: the session is one per process. Built like the unit tests, so
# that the sanitizers see the job's threads and ours together.

SESSION_APP := $(OUT)/tests/apps_session/record_threads
TEST_APPS   += $(SESSION_APP)
test-unit: $(SESSION_APP)

$(SESSION_APP): $(call objects,tests/apps_session/record_threads.cpp $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -l:libz.a -ldl -pthread
