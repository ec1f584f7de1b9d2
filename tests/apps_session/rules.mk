# A program that records without hooks: a process can have one session only. It is built like the unit tests, so that
# the sanitizers see the threads of the job and of the library together.

SESSION_APP := $(OUT)/tests/apps_session/record_threads
TEST_APPS   += $(SESSION_APP)
test-unit: $(SESSION_APP)

$(SESSION_APP): $(call objects,tests/apps_session/record_threads.cpp $(LIB_SOURCES))
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(CXX) $(SAN_LINK) $(LDFLAGS) -o $@ $^ -l:libz.a -ldl -pthread
