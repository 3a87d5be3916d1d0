#!/usr/bin/env python3
"""Writes random tables with what they mean, and compares stores with it.

    tables.py declared SEED COUNT   tables whose dialect is declared; for each a line of JSON: its name, the arguments
                                    of 'surfjournal import', and how many of its records are to be rejected
    tables.py guessed SEED COUNT    surf logs whose dialect has to be guessed
    tables.py compare NAME...       prints how NAME.sqlite differs from what NAME.csv means; with a hyphen behind the
                                    name, records that were rejected may be missing
"""

import csv
import json
import os
import random
import sqlite3
import sys

sys.dont_write_bytecode = True

import declared
import guessed

# What is read of a store, by the entity.
QUERIES = {
    "declared": "SELECT " + ", ".join("Z" + name.upper() for name in declared.ATTRIBUTES) + " FROM ZSAMPLE ORDER BY Z_PK",
    "guessed": "SELECT ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK",
}
KINDS = {"Integer 32": "integer", "Integer 16": "integer", "Double": "real", "Decimal": "real", "Date": "real",
         "Boolean": "integer", "String": "text"}


def write_model():
    lines = [f'<attribute name="{name}" optional="YES" attributeType="{kind}"/>' for name, kind in declared.ATTRIBUTES.items()]
    os.makedirs("Sample.xcdatamodel", exist_ok=True)
    with open("Sample.xcdatamodel/contents", "w", encoding="utf-8") as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<model type="com.apple.IDECoreDataModeler.DataModel" '
            'documentVersion="1.0" sourceLanguage="Swift"><entity name="Sample" representedClassName="Sample">\n'
            + "\n".join(lines) + "</entity></model>\n")


def write(kind, seed, count):
    if kind == "declared":
        write_model()
    for number in range(count):
        # A seed for each table, so that one of them can be repeated alone.
        rng, made, name = random.Random(seed + number), None, f"{kind}{number}"
        while made is None:
            made = declared.table(rng, name) if kind == "declared" else guessed.table(rng)
        content, entries, rejected, arguments, what = made
        with open(name + ".csv", "wb") as file:
            file.write(content)
        with open(name + ".meaning.json", "w", encoding="utf-8") as file:
            json.dump({"kind": kind, "entries": entries}, file)
        print(json.dumps({"name": name, "arguments": arguments, "entries": len(entries), "rejected": rejected,
                          "what": f"seed {seed + number}: {what}"}))


def compare(name, lacks_rejects):
    """The first difference, or nothing; with `lacks_rejects` some of the records were rejected."""
    with open(name + ".meaning.json", encoding="utf-8") as file:
        meaning = json.load(file)
    expected = [tuple(entry) for entry in meaning["entries"]]
    found = sqlite3.connect(f"file:{name}.sqlite?mode=ro", uri=True).execute(QUERIES[meaning["kind"]]).fetchall()
    if lacks_rejects:
        # Each entry is one of those that are meant, in their order.
        rest = iter(expected)
        strange = next((entry for entry in found if not any(entry == other for other in rest)), None)
        return f"{name}: no record means {strange!r}" if strange else None
    for number, (is_, should) in enumerate(zip(found, expected), 1):
        if is_ != should:
            return f"{name}: entry {number} is {is_!r}, and should be {should!r}"
    if len(found) != len(expected):
        return f"{name}: {len(found)} entries, and there should be {len(expected)}"
    return exported(name, expected) if os.path.exists(name + ".out.csv") else None


def exported(name, expected):
    """Compares the texts of an export, which has the token \\N for no value, with what they should be."""
    with open(name + ".out.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, (row, entry) in enumerate(zip(rows, expected), 1):
        for attribute, value in zip(declared.ATTRIBUTES, entry):
            is_text = attribute in declared.TEXTS
            same = row[attribute] == ("\\N" if value is None else value) if is_text or value is None else True
            if not same:
                return f"{name}: {attribute} of entry {number} is exported as {row[attribute]!r}, and is {value!r}"
    return None if len(rows) == len(expected) else f"{name}: {len(rows)} entries are exported"


if __name__ == "__main__":
    if sys.argv[1:2] == ["compare"]:
        for argument in sys.argv[2:]:
            difference = compare(argument.removesuffix("-"), argument.endswith("-"))
            if difference:
                print(difference)
    elif sys.argv[1:2] in (["declared"], ["guessed"]) and len(sys.argv) == 4:
        write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(__doc__)
