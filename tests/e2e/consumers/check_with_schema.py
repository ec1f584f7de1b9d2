"""Prints "FILE: ok", "FILE: refused: REASON" or "FILE: no TOML" for each spec, by a JSON schema.

  python3 check_with_schema.py SCHEMA SPEC...
"""

import json
import sys
import tomllib
from pathlib import Path

import fastjsonschema

check = fastjsonschema.compile(json.loads(Path(sys.argv[1]).read_text()))
for name in sys.argv[2:]:
    try:
        check(tomllib.loads(Path(name).read_text()))
        print(f"{name}: ok")
    except fastjsonschema.JsonSchemaException as reason:
        print(f"{name}: refused: {reason}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        print(f"{name}: no TOML")
