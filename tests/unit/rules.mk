# The command tests run the tool that was built.
test-unit: $(TOOL)
