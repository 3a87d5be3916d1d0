#!/usr/bin/env python3
"""Validates dirty files with frictionless and with surfjournal and compares error by error.

    frictionless_compare.py SURFJOURNAL [--list]

Every error of frictionless must be one of ours with the same code and row, or be listed in DIFFERENCES with its reason;
a listed difference that no longer occurs fails too. Rows count as frictionless counts them: the header is row 1, and a
record that spans lines is one row. Exit status 1 where something is missing.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile

import frictionless
from frictionless import Resource, Schema

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "SampleData", "surf-log-dirty.csv")

TEXT = {"type": "string"}
PLAIN_COLUMNS = [{"name": "date"}, {"name": "location"}, {"name": "rating"}]
PLAIN_FIELDS = [
    {"name": "date", "type": "datetime", "format": "any"}, {"name": "location", **TEXT},
    {"name": "rating", "type": "integer"},
]


def plain(**changes):
    """Columns and fields of date, location and rating, with rules and constraints for some."""
    columns = [dict(column, **changes.get(column["name"], ({}, {}))[0]) for column in PLAIN_COLUMNS]
    fields = [dict(field, **changes.get(field["name"], ({}, {}))[1]) for field in PLAIN_FIELDS]
    return {"columns": columns}, {"fields": fields}


HEADER = "date,location,rating\n"
LONG = {"rules": [{"rule": "length", "max": 1000}]}
LONG_TEXT = {"type": "string", "constraints": {"maxLength": 1000}}
SAMPLE_PIPELINE = {
    "columns": [
        {"name": "date", "formats": ["iso8601", "journal-app"], "rules": ["required"]},
        {"name": "location", **LONG}, {"name": "height", **LONG}, {"name": "period", **LONG}, {"name": "wind", **LONG},
        {"name": "rating", "rules": [{"rule": "range", "min": 1, "max": 5}]},
    ]
}
SAMPLE_SCHEMA = {
    "fields": [
        {"name": "date", "type": "datetime", "format": "any", "constraints": {"required": True}},
        {"name": "location", **LONG_TEXT}, {"name": "height", **LONG_TEXT}, {"name": "period", **LONG_TEXT},
        {"name": "wind", **LONG_TEXT},
        {"name": "rating", "type": "integer", "constraints": {"minimum": 1, "maximum": 5}},
    ]
}


def case(name, content, setup=None, **options):
    pipeline, schema = setup or plain()
    return {"name": name, "content": content, "pipeline": pipeline, "schema": schema, **options}


def cases():
    with open(SAMPLE, "rb") as file:
        sample = file.read()
    # frictionless gives up on a whole file for one byte that is not UTF-8; as Latin-1 it sees the rest.
    yield case("sample", sample, (SAMPLE_PIPELINE, SAMPLE_SCHEMA), encoding="latin-1")
    yield case("sample-utf8", sample, (SAMPLE_PIPELINE, SAMPLE_SCHEMA))
    yield case("clean", HEADER + "2020-01-01,A,3\n")
    yield case("types", HEADER + "soon,A,3\n2020-01-02,B,x\n2020-02-30,C,1.5\n2020-01-03,D,\n")
    yield case(
        "constraints", HEADER + "2020-01-01,A,0\n2020-01-01,,3\n2020-01-01,Nowhere,9\n2020-01-01,B1,5\n",
        plain(
            location=(
                {"rules": ["required", {"rule": "pattern", "matches": "[A-Z][0-9]?"}]},
                {"constraints": {"required": True, "pattern": "[A-Z][0-9]?"}}),
            rating=(
                {"rules": [{"rule": "range", "min": 1, "max": 5}]}, {"constraints": {"minimum": 1, "maximum": 5}})))
    yield case(
        "enum", HEADER + "2020-01-01,A,1\n2020-01-01,B,1\n2020-01-01,C,1\n",
        plain(location=({"rules": [{"rule": "oneOf", "values": ["A", "B"]}]}, {"constraints": {"enum": ["A", "B"]}})))
    yield case(
        "length", HEADER + "2020-01-01,A,1\n2020-01-01,AB,1\n2020-01-01,ABCDE,1\n",
        plain(
            location=(
                {"rules": [{"rule": "length", "min": 2, "max": 4}]}, {"constraints": {"minLength": 2, "maxLength": 4}})))
    yield case(
        "unique", HEADER + "2020-01-01,A,1\n2020-01-02,B,1\n2020-01-03,A,1\n",
        plain(location=({"rules": ["unique"]}, {"constraints": {"unique": True}})))
    key = plain()
    key[0]["key"] = ["date", "location"]
    key[1]["primaryKey"] = ["date", "location"]
    yield case("primary-key", HEADER + "2020-01-01,A,1\n2020-01-01,B,1\n2020-01-01,A,2\n", key)
    yield case("cells", HEADER + "2020-01-01,A\n2020-01-01,B,1,extra\n2020-01-01\n2020-01-02,C,3\n")
    yield case("blank-rows", HEADER + "2020-01-01,A,1\n\n2020-01-02,B,2\n,,\n2020-01-03,C,3\n")
    required = plain(rating=({"required": True}, {}))
    yield case("missing-label", "date,location\n2020-01-01,A\n", required)
    yield case("extra-label", "date,location,rating,mood\n2020-01-01,A,1,good\n")
    yield case("duplicate-label", "date,location,location\n2020-01-01,A,B\n")
    yield case("blank-label", "date,,rating\n2020-01-01,A,1\n")
    yield case("blank-header", "\n2020-01-01,A,1\n")
    yield case("incorrect-label", "date,place,rating\n2020-01-01,A,1\n")
    yield case("unterminated-quote", HEADER + "2020-01-01,A,1\n2020-01-02,\"B,2\n")
    yield case("encoding", HEADER.encode() + b"2020-01-01,\xff\xfe,1\n2020-01-02,B,2\n")
    yield case("truncated-gzip", gzip.compress((HEADER + "2020-01-01,A,1\n" * 2000).encode())[:200], suffix=".csv.gz")
    yield case("missing-file", None)
    yield case("empty-file", "")


# (case, code, row) of frictionless's that is not ours with the same code and row, and why.
QUOTE = "a quote that is never closed: ours is unterminated-quote, and says so instead of what follows from it"
DIFFERENCES = {
    ("sample", "missing-cell", 60): QUOTE,
    ("sample-utf8", "missing-cell", 60): QUOTE,
    ("unterminated-quote", "missing-cell", 3): QUOTE,
    ("duplicate-label", "type-error", 2): "with two labels for one column no record can be read, and none is",
    ("blank-header", "incorrect-label", None): "ours is blank-header alone: an empty header has no labels to be wrong",
    ("incorrect-label", "incorrect-label", None): "columns are found by their labels in any order; ours is extra-label",
    ("missing-file", "scheme-error", None): "ours is source-error, which the specification has for it",
}


def theirs(path, one):
    options = {"encoding": one["encoding"]} if "encoding" in one else {}
    try:
        report = Resource(path=path, schema=Schema.from_descriptor(one["schema"]), **options).validate()
    except Exception as error:  # A crash of the peer is a result too.
        return {("crash: " + type(error).__name__, None, None)}
    found = set()
    for error in report.flatten(["type", "rowNumber", "fieldNumber"]):
        found.add(tuple(error))
    return found


def ours(program, path, one, folder):
    pipeline = os.path.join(folder, "pipeline.json")
    with open(pipeline, "w") as file:
        json.dump({"name": one["name"], **one["pipeline"]}, file)
    ran = subprocess.run(
        [program, "validate", path, "--pipeline", pipeline, "--json"], capture_output=True, text=True, cwd=folder)
    if not ran.stdout:
        raise SystemExit(f"{one['name']}: surfjournal said nothing: {ran.stderr}")
    issues = json.loads(ran.stdout)["issues"]["listed"]
    return {(issue["code"], issue["record"] + 1, issue.get("field")) for issue in issues}


def compare(program, one, folder):
    path = one["name"] + one.get("suffix", ".csv")
    if one["content"] is not None:
        content = one["content"]
        with open(os.path.join(folder, path), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    peer, own = theirs(path, one), ours(program, path, one, folder)
    # Errors of a file or a header have no row in frictionless.
    same = lambda error: any(
        error[0] == issue[0] and (error[1] is None or error[1] == issue[1]) for issue in own)
    missing = sorted({(one["name"], error[0], error[1]) for error in peer if not same(error)}, key=str)
    more = sorted((issue for issue in own if not any(issue[0] == error[0] for error in peer)), key=str)
    return peer, missing, more


def main():
    program = os.path.abspath(sys.argv[1])
    agreed, missing, more = 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for one in cases():
            peer, lacking, extra = compare(program, one, folder)
            agreed += len(peer) - len(lacking)
            missing += lacking
            more += [(one["name"],) + issue for issue in extra]
    unlisted = [error for error in missing if error not in DIFFERENCES]
    stale = [error for error in DIFFERENCES if error not in missing]
    print(f"frictionless {frictionless.__version__}: {agreed} errors are ours too, with code and row;"
          f" {len(missing)} differ, {len(missing) - len(unlisted)} of them for a reason that is listed")
    if "--list" in sys.argv:
        for error in missing:
            print("  theirs:", error, "-", DIFFERENCES.get(error, "NOT LISTED"))
        for issue in more:
            print("  only ours:", issue)
    for error in unlisted:
        print("missing on our side:", error, file=sys.stderr)
    for error in stale:
        print("listed, but it does not occur any more:", error, file=sys.stderr)
    return 1 if unlisted or stale else 0


if __name__ == "__main__":
    sys.exit(main())
