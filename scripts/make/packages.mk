# Man pages, installing, and building for other systems.

# A page is named by its title line, as in "profshim-merge(1)".
.PHONY: man
man: $(TOOL)  ## man pages of the commands, the spec and the library, into build/man; needs scdoc
	@command -v scdoc >/dev/null || { echo "no scdoc: apt-get install scdoc" >&2; exit 1; }
	@mkdir -p $(BUILD)/man
	$(Q)for page in $(filter-out src/spec/spec.scd,$(PAGES)); do \
	  scdoc <$$page >$(BUILD)/man/$$(sed -n '1s/(\([0-9]\))/.\1/p' $$page) || exit 1; done
	$(Q)scripts/spec_page.sh $(TOOL) | scdoc >$(BUILD)/man/profshim-spec.5

.PHONY: install
install: all  ## PREFIX (/usr/local): bin/profshim, lib/libprofshim.so, and the man pages where scdoc is
	@if command -v scdoc >/dev/null; then $(MAKE) --no-print-directory man; \
	  else echo "no scdoc: the man pages are not installed (profshim help COMMAND prints them)"; fi
	for page in $(BUILD)/man/*; do [ ! -e "$$page" ] || \
	  install -Dm 644 "$$page" $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; done
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/profshim
	install -m 755 $(SHIM) $(DESTDIR)$(PREFIX)/lib/libprofshim.so

# ---- for older systems -----------------------------------------------------------------------------------------------

# Links the same objects to glibc 2.28; src/old_glibc defines newer functions. In glibc 2.28, threads and dlopen() are
# in separate libraries, which newer systems keep, empty.
OLD_GLIBC    := 2.28
PORTABLE     := $(BUILD)/portable
PORTABLE_OBJECTS := $(OBJ)/src/old_glibc/forwards.o $(OBJ)/src/old_glibc/functions.o $(OBJ)/src/old_glibc/find_object.o
PORTABLE_LINK := -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--as-needed -Wl,--gc-sections -Wl,--strip-debug
$(OBJ)/src/old_glibc/%.o: COMMON += -ffunction-sections -fdata-sections

.PHONY: portable
portable: $(PORTABLE)/libprofshim.so $(PORTABLE)/profshim  ## the same for glibc 2.28 and newer, into build/portable
	$(Q)scripts/check_glibc.sh $(OLD_GLIBC) $^

$(PORTABLE)/libprofshim.so: $(call objects,$(SHIM_SOURCES)) inject/exports.map $(PORTABLE_OBJECTS) \
                            $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -shared -o $@ $(filter %.o,$^) -l:libz.a $(SHIM_LINK) $(PORTABLE_LINK)
	@$(call keep_command,$(LINK_COMMAND))

$(PORTABLE)/profshim: $(call objects,$(TOOL_SOURCES)) $(PORTABLE_OBJECTS) $(OBJ)/src/old_glibc/start.o \
                      $(OBJ)/src/old_glibc/tool_forwards.o $$(if_link_changed)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK   $@")
	$(Q)$(LINK_COMMAND) -o $@ $(filter %.o,$^) -static-libstdc++ -static-libgcc -l:libz.a $(PORTABLE_LINK)
	@$(call keep_command,$(LINK_COMMAND))

# ---- for aarch64 -----------------------------------------------------------------------------------------------------

CACHE        := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/profshim
FOR_AARCH64  := VARIANT=aarch64 CC=aarch64-linux-gnu-gcc CXX="$(if $(findstring ccache,$(CXX)),ccache )aarch64-linux-gnu-g++" \
                LDFLAGS="-L$(CACHE)/aarch64/opt/lib"

.PHONY: aarch64
aarch64:  ## the library and the tool for aarch64, into build/aarch64
	$(Q)scripts/install_deps.sh --aarch64
	$(Q)scripts/aarch64_root.sh
	$(Q)$(AGAIN) $(FOR_AARCH64) all
