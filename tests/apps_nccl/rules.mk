# Programs that call the real NCCL, which without a GPU returns errors. Built if a libnccl.so.2 is found: CUDA's, the
# system's, or that of the wheel that scripts/install_deps.sh unpacks.
NCCL_LIBRARY := $(abspath $(firstword $(wildcard $(CUDA_HOME)/lib64/libnccl.so.2 /usr/lib/*-linux-gnu/libnccl.so.2 \
                $(DEPS)/nvidia/nccl/lib/libnccl.so.2)))
NCCL_HEADER  := $(abspath $(firstword $(wildcard $(CUDA_HOME)/include/nccl.h /usr/include/nccl.h \
                $(DEPS)/nvidia/nccl/include/nccl.h)))

NCCL_APPS := $(addprefix $(BUILD)/tests/apps_nccl/,without_nccl)
ifneq ($(NCCL_LIBRARY),)
NCCL_APPS += $(addprefix $(BUILD)/tests/apps_nccl/,every_call local_user libnccl_user.so)
endif
TEST_APPS += $(NCCL_APPS)
NCCL_CFLAGS := -O1 -g -Wall -Wextra
NCCL_LINK   := -Wl,--no-as-needed $(NCCL_LIBRARY) -Wl,-rpath,$(dir $(NCCL_LIBRARY)) -ldl

$(BUILD)/tests/apps_nccl/every_call: tests/apps_nccl/every_call.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(NCCL_CFLAGS) $< -o $@ $(NCCL_LINK)

$(BUILD)/tests/apps_nccl/without_nccl: tests/apps_nccl/every_call.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(NCCL_CFLAGS) $< -o $@ -ldl

$(BUILD)/tests/apps_nccl/libnccl_user.so: tests/apps_nccl/nccl_user.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(NCCL_CFLAGS) -shared -fPIC $< -o $@ $(NCCL_LINK)

$(BUILD)/tests/apps_nccl/local_user: tests/apps_nccl/local_user.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(NCCL_CFLAGS) $< -o $@ -ldl

$(OBJ)/tests/unit/inject/nccl/rows_test.o: COMMON += $(if $(NCCL_HEADER),-DPROFSHIM_NCCL_HEADER=\"$(NCCL_HEADER)\")
$(OBJ)/tests/e2e/nccl/calls_test.o: COMMON += -DPROFSHIM_NCCL_LIBRARY=\"$(NCCL_LIBRARY)\"
