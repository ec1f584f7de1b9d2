#!/usr/bin/env python3
"""Checks each FILE with PyTorch's own rules for traces (torch.profiler._trace_validator).

usage: validate_with_torch.py FILE… [--without RULE]     exit status 0 if no rule is broken
"""
import argparse
import importlib.util
import os
import sys


def rules():
    """Loads the module alone, because torch is not installed (scripts/consumers_venv.sh)."""
    path = os.path.join(sys.prefix, "torch", "profiler", "_trace_validator.py")
    spec = importlib.util.spec_from_file_location("_trace_validator", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--without", action="append", default=[])
    options = parser.parse_args()
    validator = rules()
    failed = False
    for path in options.files:
        _, violations = validator.validate_trace(path)
        broken = [v for v in violations if v.rule_name not in options.without]
        print(f"{path}: {len(violations)} violations, {len(violations) - len(broken)} of them not asked for")
        for violation in broken[:5]:
            print(f"FAILED: {violation}", file=sys.stderr)
        failed = failed or bool(broken)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
