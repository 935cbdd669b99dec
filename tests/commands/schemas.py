"""Validates the output of commands against the schemas: schemas.py SCHEMAS PRINTED."""

import json
import pathlib
import sys

import jsonschema

schemas, printed = map(pathlib.Path, sys.argv[1:])
wrong = 0
for name, outputs in json.loads(printed.read_text()).items():
    schema = json.loads((schemas / f"{name}.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for output in outputs:
        for error in validator.iter_errors(output):
            wrong += 1
            print(f"{name}: /{'/'.join(map(str, error.path))}: {error.message[:300]}")
sys.exit(wrong > 0)
