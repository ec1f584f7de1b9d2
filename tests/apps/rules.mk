# The MPI programs of the end-to-end tests, for every installed MPI: build/tests/apps/openmpi/ring_isend ... Sanitizer
# builds do not instrument them, as they are ordinary jobs.
MPI_IMPLEMENTATIONS := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m) 2>/dev/null),$(m)))
MPI_FORTRAN         := $(foreach m,$(MPI_IMPLEMENTATIONS),$(if $(shell command -v mpifort.$(m) 2>/dev/null),$(m)))
APPS                := $(BUILD)/tests/apps

MPI_C_APPS       := $(filter-out dlopen_local_library deepbind_plugin,$(basename $(notdir $(wildcard tests/apps/mpi/*.c))))
EVERY_CALL       := $(wildcard tests/apps/mpi/every_call/*.c)
MPI_CXX_APPS     := $(basename $(notdir $(wildcard tests/apps/mpi/*.cpp)))
MPI_FORTRAN_APPS := $(basename $(notdir $(wildcard tests/apps/mpi/*.f90 tests/apps/mpi/*.f)))

MPI_APPS := $(foreach m,$(MPI_IMPLEMENTATIONS),$(addprefix $(APPS)/$(m)/,$(MPI_C_APPS) $(MPI_CXX_APPS) \
              libdlopen_local_library.so libdeepbind_plugin.so every_call)) \
            $(foreach m,$(MPI_FORTRAN),$(addprefix $(APPS)/$(m)/,$(MPI_FORTRAN_APPS)))

.PHONY: mpi-apps
mpi-apps: $(MPI_APPS)  ## the MPI programs of the end-to-end tests

# gcc 12 takes MPI_STATUSES_IGNORE and MPI_UNWEIGHTED of MPICH for short arrays.
MPI_CFLAGS := -O1 -g -Wall -Wno-stringop-overflow -Wno-stringop-overread
define mpi_rules
$(APPS)/$(1)/every_call: $(EVERY_CALL) $(wildcard tests/apps/mpi/every_call/*.h) tests/apps/mpi/counts.h include/profshim/hooks/mpi.def
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICC  $$@")
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) $(EVERY_CALL) -o $$@ -ldl -lpthread
$(APPS)/$(1)/%: tests/apps/mpi/%.c tests/apps/mpi/counts.h
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICC  $$< ($(1))")
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) $$< -o $$@ -ldl -lpthread
$(APPS)/$(1)/%: tests/apps/mpi/%.cpp tests/apps/mpi/counts.h
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICXX $$< ($(1))")
	$$(Q)mpicxx.$(1) -std=c++17 $$(MPI_CFLAGS) $$< -o $$@ -lpthread
$(APPS)/$(1)/lib%.so: tests/apps/mpi/%.c tests/apps/mpi/counts.h
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPICC  $$< ($(1))")
	$$(Q)mpicc.$(1) $$(MPI_CFLAGS) -shared -fPIC $$< -o $$@
$(APPS)/$(1)/%: tests/apps/mpi/%.f90
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPIFC  $$< ($(1))")
	$$(Q)mpifort.$(1) -O1 -g -Wall -J $$(@D) $$< -o $$@
$(APPS)/$(1)/%: tests/apps/mpi/%.f
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo "  MPIFC  $$< ($(1))")
	$$(Q)mpifort.$(1) -O1 -g -fallow-argument-mismatch $$< -o $$@
endef
$(foreach m,$(MPI_IMPLEMENTATIONS),$(eval $(call mpi_rules,$(m))))
