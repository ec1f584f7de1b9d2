# NVTX programs, libraries with their own NVTX instances, and a second NVTX tool. The programs are MPI ranks, but for plain_steps.

ifneq ($(NVTX_INCLUDE),)
# The unit tests link these parts of the library.
$(UNIT): $(call objects,inject/nvtx/callbacks/chain.cpp inject/nvtx/handles.cpp $(addprefix inject/nvtx/payload/,layout.cpp render.cpp scalars.cpp))

TEST_APPS += $(BUILD)/tests/apps_nvtx/plain_steps
$(BUILD)/tests/apps_nvtx/plain_steps: tests/apps_nvtx/plain_steps.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -Wall -Wextra $(NVTX_FLAGS) $< -o $@ -ldl

ifneq ($(wildcard /usr/bin/mpicc.openmpi),)
NVTX_APPS  := $(addprefix $(BUILD)/tests/apps_nvtx/,nvtx_all nvtx_deep nvtx_epochs nvtx_full_tables nvtx_names nvtx_payload_ranges nvtx_phases nvtx_polls nvtx_ranges \
                nvtx_libs nvtx_cpp libfake_tool.so)
TEST_APPS  += $(NVTX_APPS)
NVTX_CFLAGS := -O1 -g -Wall -Wextra $(NVTX_FLAGS)

$(BUILD)/tests/apps_nvtx/nvtx_all: tests/apps_nvtx/nvtx_all.c
	@mkdir -p $(@D)
	$(Q)mpicc.openmpi $(NVTX_CFLAGS) -DNVTX_APP_MAIN -DNVTX_APP_MPI $< -o $@ -pthread -ldl

$(addprefix $(BUILD)/tests/apps_nvtx/,nvtx_deep nvtx_epochs nvtx_full_tables nvtx_names nvtx_payload_ranges nvtx_phases nvtx_polls nvtx_ranges): $(BUILD)/tests/apps_nvtx/%: tests/apps_nvtx/%.c
	@mkdir -p $(@D)
	$(Q)mpicc.openmpi $(NVTX_CFLAGS) $< -o $@ -ldl

$(BUILD)/tests/apps_nvtx/lib_%.so: tests/apps_nvtx/nvtx_all.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(NVTX_CFLAGS) -shared -fPIC -Dnvtx_app_prepare=$*_prepare -Dnvtx_app_step=$*_step $< -o $@ -pthread -ldl

$(BUILD)/tests/apps_nvtx/nvtx_libs: tests/apps_nvtx/nvtx_libs.c $(BUILD)/tests/apps_nvtx/lib_a.so $(BUILD)/tests/apps_nvtx/lib_b.so
	$(Q)mpicc.openmpi $(NVTX_CFLAGS) -DNVTX_APP_MPI $^ '-Wl,-rpath,$$ORIGIN' -o $@ -ldl

$(BUILD)/tests/apps_nvtx/nvtx_cpp: tests/apps_nvtx/nvtx_cpp.cpp
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(NVTX_CFLAGS) $< -o $@ -ldl

$(BUILD)/tests/apps_nvtx/libfake_tool.so: tests/apps_nvtx/fake_tool.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(NVTX_CFLAGS) -shared -fPIC $< -o $@

endif
endif
