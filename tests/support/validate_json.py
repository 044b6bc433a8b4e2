"""Validates a JSON file by a JSON Schema: prints what is wrong and where, and then exits with 1."""

import json
import sys

from jsonschema import Draft202012Validator


def main():
    schema_path, document_path = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    with open(document_path, encoding="utf-8") as file:
        document = json.load(file)
    Draft202012Validator.check_schema(schema)
    errors = list(Draft202012Validator(schema).iter_errors(document))
    for error in errors:
        print("/".join(map(str, error.absolute_path)) + ": " + error.message)
    return 1 if errors else 0


sys.exit(main())
