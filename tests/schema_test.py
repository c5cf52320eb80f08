#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schema that trundle prints: it is one, all bundled models are what it describes, and the wrong
models of the other tests are not, nor bundled ones with a mistake made in them.

    schema_test.py TRUNDLE ROOT
"""
import ast
import copy
import json
import pathlib
import re
import subprocess
import sys

import jsonschema
import yaml

trundle, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


schema = json.loads(subprocess.run([trundle, "schema"], check=True, capture_output=True, text=True).stdout)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)


def with_texts(part):
    """The same with keys that are texts, as JSON has them: YAML 1.1 reads `on` as true."""
    if isinstance(part, dict):
        return {str(key): with_texts(value) for key, value in part.items()}
    return part


def faults(model):
    return list(validator.iter_errors(with_texts(model)))


# ---- models that are right ------------------------------------------------------------------

def good_models():
    for folder in ("models", "tests/doctor", "tests/reported"):
        for path in sorted((root / folder).glob("*.yaml")):
            yield path, yaml.safe_load(path.read_text())
    for document in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for block in re.findall(r"```yaml\n(trundle: 1.*?)```", document.read_text(), re.S):
            yield document, yaml.safe_load(block)


def check_good():
    count = 0
    for path, model in good_models():
        count += 1
        for fault in faults(model):
            complain(f"{path}: {'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}")
    if count < 100:
        complain(f"only {count} models")
    return count


# ---- models that are wrong ------------------------------------------------------------------

# What C tests call wrong, by what is said of it: this much a schema can tell.
TOLD = re.compile(r"^unknown key|is a key of|must be a map|is true or false|' is a formula[:,]|has no value"
                  r"|is a list of names|^unknown joint type|^unknown shape|^there is no kind"
                  r"|^the role of|must begin with|is of version|a name is expected|along y, z or yz"
                  r"|is a wheel or a ball|^the order is")
# `yes` is true in YAML 1.1, and 1.0 is 1 in JSON.
EXCEPT = re.compile(r"not 'yes'$|version '1\.0'")


def c_text(literals):
    """C string literals, one behind the other."""
    return "".join(ast.literal_eval(f'"{part}"') for part in re.findall(r'"((?:[^"\\]|\\.)*)"', literals))


def wrong_models():
    """(where, text, words) of the rows {"text", line, column, "words"} of C tests."""
    literal = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    for name in ("read_test.c", "refusal_test.c"):
        text = (root / "tests" / name).read_text()
        for found in re.finditer(r"\{\s*" + literal + r",\s*(\d+),\s*(\d+),\s*" + literal + r"\}", text):
            model = c_text(found[1])
            if not model.startswith("trundle") and name == "refusal_test.c":
                model = "trundle: 1\n" + model
            yield f"{name}: {model!r}", model, c_text(found[4])


def check_wrong():
    count = 0
    for where, text, words in wrong_models():
        if not TOLD.search(words) or EXCEPT.search(words):
            continue
        try:
            model = yaml.safe_load(text)
        except yaml.YAMLError:
            continue
        count += 1
        if not faults(model):
            complain(f"{where}: the schema accepts it, though {words}")
    if count < 40:
        complain(f"only {count} wrong models")
    return count


# ---- mistakes in models that are right ------------------------------------------------------

def places(part, described, path=()):
    """(path, the schema there) of a model and all objects in it."""
    while "$ref" in described or "allOf" in described:
        described = (described["allOf"][0] if "allOf" in described
                     else schema["definitions"][described["$ref"].rsplit("/", 1)[1]])
    if "anyOf" in described:
        return places(part, described["anyOf"][1], path) if isinstance(part, dict) else iter(())
    return places_in(part, described, path)


def places_in(part, described, path):
    yield path, described
    if not isinstance(part, dict):
        return
    for key, value in part.items():
        inner = described.get("properties", {}).get(key, described.get("additionalProperties"))
        if isinstance(inner, dict):
            yield from places(value, inner, path + (key,))


def changed(model, path, value):
    twin = copy.deepcopy(model)
    at = twin
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return twin


def mistakes(model):
    """Models with one mistake each."""
    for path, described in places(model, schema):
        if described.get("additionalProperties") is False:
            yield path + ("nonsense",), changed(model, path + ("nonsense",), 1)
        if "enum" in described:
            yield path, changed(model, path, "nonsense")
        if described.get("type") == "string":
            yield path, changed(model, path, 3)
        if path and described.get("type") in ("object", ["number", "string"]):
            yield path, changed(model, path, [1, 2])


def check_mistakes():
    count = 0
    for path in ("bicycle", "sk8o", "cart_pole", "spinning_beam", "robot_satellite", "turntable"):
        model = yaml.safe_load((root / f"models/{path}.yaml").read_text())
        for place, wrong in mistakes(model):
            count += 1
            if not faults(wrong):
                complain(f"{path}.yaml with a mistake at {'/'.join(map(str, place))}: accepted")
    if count < 500:
        complain(f"only {count} mistakes")
    return count


# ---- the program agrees ---------------------------------------------------------------------

def check_required():
    """What the schema calls required, check misses."""
    for name, kind in schema["definitions"].items():
        for key in kind.get("required", []):
            if "; required" not in kind["properties"][key]["description"] + ";":
                complain(f"{name}: {key} is required, and its description does not say so")
    if schema["required"] != ["trundle"]:
        complain(f"of a model is required: {schema['required']}")


good, wrong, made = check_good(), check_wrong(), check_mistakes()
check_required()
print(f"{good} good models, {wrong} wrong ones, {made} mistakes, {failures} failures")
sys.exit(failures > 0)
