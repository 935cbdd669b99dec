"""Compares a server's answers with its description: openapi.py OPENAPI MET."""

import json
import pathlib
import sys

import jsonschema

openapi, met = (json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:])
wrong = []


def silent(schema, at):
    """Reports fields without a description."""
    for name, field in schema.get("properties", {}).items():
        if "$ref" not in field and not field.get("description"):
            wrong.append(f"{at}/{name} is not described")
        silent(field, f"{at}/{name}")
    if isinstance(schema.get("items"), dict):
        silent(schema["items"], f"{at}/*")


for name, schema in openapi["components"]["schemas"].items():
    jsonschema.Draft202012Validator.check_schema(schema)
    silent(schema, name)
asked = set()
for one in met:
    asked.add((one["path"], one["method"]))
    at = f"{one['method']} {one['path']} {one['status']}"
    response = openapi["paths"][one["path"]][one["method"]]["responses"].get(str(one["status"]))
    if response is None:
        wrong.append(f"{at} is not described")
        continue
    content = response["content"]
    kind = "application/x-ndjson" if "application/x-ndjson" in content else "application/json"
    schema = {**content[kind]["schema"], "components": openapi["components"]}
    for error in jsonschema.Draft202012Validator(schema).iter_errors(one["body"]):
        wrong.append(f"{at}: /{'/'.join(map(str, error.path))}: {error.message[:300]}")
described = {(path, method) for path, methods in openapi["paths"].items() for method in methods}
wrong += [f"{method} {path} was not asked" for path, method in sorted(described - asked)]
print("\n".join(wrong[:20]))
sys.exit(bool(wrong))
