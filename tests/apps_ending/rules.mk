# MPI programs that end in every way there is, built with each MPI that is installed.

ENDING_APPS := $(foreach m,$(if $(wildcard /usr/bin/mpicxx.openmpi),openmpi) $(if $(wildcard /usr/bin/mpicxx.mpich),mpich), \
               $(BUILD)/tests/apps_ending/$(m)/ending)
TEST_APPS   += $(ENDING_APPS)

$(BUILD)/tests/apps_ending/%/ending: tests/apps_ending/ending.cpp
	@mkdir -p $(@D)
	@$(if $(V),,echo "  MPICXX $< ($*)")
	$(Q)mpicxx.$* -std=c++17 -O1 -g -Wall -Wextra -Wno-cast-function-type $< -o $@
