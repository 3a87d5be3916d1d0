#!/usr/bin/env python3
"""Writes the sample logs of this folder; the same bytes on every run.

    generate.py            writes surf-log.csv, surf-log.csv.gz, surf-log-dirty.csv,
                           surf-log-dirty.expected.json, surftagebuch.csv,
                           google-sheets.csv, numbers.csv and an .expected.csv
                           for each of these three, spot-reports.jsonl,
                           spot-reports.json, spot-reports.expected.csv and
                           spot-reports.expected.json next to this file
    generate.py --check    writes nothing; exits 1 if a file is not what it would write

The clean log is that of a surfing club: some thousand sessions over eight years, every one of them importable
without a remark. The dirty log has each problem that the validator knows, between good records;
surf-log-dirty.expected.json says what must be reported of it. The third log is a spreadsheet as a German-speaking
surfer keeps it and Excel writes it; surftagebuch.expected.csv has the entries that must come of it. Two more
spreadsheets are as Google Sheets and Numbers write them. The reports are JSON Lines as a web service sends them, with
broken lines between; spot-reports.json is the pipeline that reads them, and the expected files have the entries and the
issues that must come of it. See README.md in this folder.
"""

import datetime
import gzip
import io
import json
import pathlib
import random
import sys

SEED = 20140714
SESSIONS = 4000
LINKED_SESSIONS = 300
FIRST_DAY = datetime.date(2012, 3, 1)
DAYS = 8 * 365 + 2
COLUMNS = ["date", "location", "height", "period", "wind", "rating"]

# Name, offset from UTC in hours, a usual height in feet, and how often it is surfed.
SPOTS = [
    ("Rincon", -8, 4, 60),
    ("C Street, Ventura", -8, 3, 55),
    ("Malibu, First Point", -8, 3, 40),
    ("Steamer Lane, Santa Cruz", -8, 5, 36),
    ("Pleasure Point", -8, 4, 30),
    ("Ocean Beach, San Francisco", -8, 7, 22),
    ("Mavericks", -8, 18, 2),
    ("Trestles", -8, 4, 30),
    ("Black's Beach, La Jolla", -8, 5, 18),
    ("El Porto", -8, 4, 16),
    ('"The Ranch"', -8, 4, 5),
    ('Ditch Plains, "the Ditch", Montauk', -5, 3, 9),
    ("Banzai Pipeline, Oʻahu", -10, 9, 8),
    ("Hoʻokipa, Maui", -10, 6, 7),
    ("Honolua Bay", -10, 6, 4),
    ("Todos Santos, \"Killers\"", -8, 15, 1),
    ("Scorpion Bay, San Juanico", -7, 4, 5),
    ("Playa Zicatela, Puerto Escondido", -6, 10, 5),
    ("Playa Hermosa, Jacó", -6, 5, 6),
    ("Pavones", -6, 5, 4),
    ("Soup Bowl, Bathsheba", -4, 6, 3),
    ("María's, Rincón", -4, 5, 3),
    ("Chicama", -5, 5, 5),
    ("Máncora", -5, 4, 3),
    ("Punta de Lobos, Pichilemu", -4, 8, 5),
    ("Praia da Joaquina, Florianópolis", -3, 4, 4),
    ("Itacaré", -3, 4, 3),
    ("Praia do Norte, Nazaré", 0, 20, 2),
    ("Supertubos, Peniche", 0, 6, 9),
    ("Ribeira d'Ilhas, Ericeira", 0, 5, 9),
    ("Mundaka", 1, 6, 6),
    ("Zarautz", 1, 4, 6),
    ("La Gravière, Hossegor", 1, 6, 8),
    ("Côte des Basques, Biarritz", 1, 3, 8),
    ("La Torche, Plomeur", 1, 4, 4),
    ("Fistral Beach, Newquay", 0, 4, 7),
    ("Croyde", 0, 4, 5),
    ("Thurso East", 0, 6, 4),
    ("Bundoran, \"The Peak\"", 0, 5, 4),
    ("Lahinch", 0, 4, 3),
    ("Unstad, Lofoten", 1, 5, 2),
    ("Klitmøller (Cold Hawaii)", 1, 4, 3),
    ("Anchor Point, Taghazout", 0, 6, 6),
    ("إمسوان", 0, 4, 2),
    ("חוף הילטון, תל אביב", 2, 3, 3),
    ("N'Gor, Dakar", 0, 5, 2),
    ("Skeleton Bay", 2, 8, 1),
    ("Supertubes, Jeffreys Bay", 2, 6, 7),
    ("Dungeons, Hout Bay", 2, 18, 1),
    ("Arugam Bay", 5, 4, 4),
    ("Uluwatu", 8, 6, 8),
    ("Padang Padang", 8, 6, 5),
    ("Desert Point, Lombok", 8, 7, 3),
    ("G-Land, Grajagan", 7, 7, 3),
    ("Cloud 9, Siargao", 8, 6, 3),
    ("日月湾, 万宁", 8, 4, 2),
    ("제주 중문해수욕장", 9, 3, 2),
    ("志田下, 一宮町", 9, 4, 4),
    ("湘南 鵠沼海岸", 9, 3, 4),
    ("木崎浜, 宮崎", 9, 4, 2),
    ("Халактырский пляж", 12, 5, 1),
    ("Snapper Rocks, Coolangatta", 10, 5, 7),
    ("The Pass, Byron Bay", 10, 4, 6),
    ("Bells Beach", 10, 6, 6),
    ("Margaret River, Main Break", 8, 8, 4),
    ("Manu Bay, Raglan", 12, 5, 5),
    ("Cloudbreak, Tavarua", 12, 8, 3),
    ("Teahupoʻo", -10, 9, 2),
]

WORDS = {
    0: ["Flat", "flat", "Ankle high"],
    1: ["Ankle high", "Knee high", "1ft"],
    2: ["Knee high", "Thigh high", "Waist high"],
    3: ["Waist high", "Chest high"],
    4: ["Chest high", "Shoulder high"],
    5: ["Head high", "Shoulder high"],
    6: ["Head high", "Slightly overhead"],
    8: ["Overhead"],
    12: ["Double overhead", "Well overhead"],
}
DIRECTIONS = ["N", "NNE", "NE", "E", "ESE", "SE", "S", "SSW", "SW", "W", "WNW", "NW", "NNW"]


def height(rng, usual):
    feet = max(0.0, rng.gauss(usual, usual * 0.35))
    style = rng.random()
    if style < 0.03:
        return ""
    if feet < 0.5 or style < 0.04:
        return rng.choice(["Flat", "flat", "0"])
    if style < 0.40:
        return f"{feet:.1f}"
    if style < 0.65:
        low = max(1, round(feet))
        return f"{low}-{low + rng.choice([1, 1, 2, 3])}ft"
    if style < 0.82:
        return f"{feet * 0.3048:.1f}m"
    if style < 0.90:
        return f"{max(1, round(feet))} ft"
    if style < 0.95:
        return f"{max(1, round(feet))}'"
    return rng.choice(WORDS[max(size for size in WORDS if size <= feet)])


def period(rng):
    seconds = min(22, max(4, round(rng.gauss(12, 3.2))))
    style = rng.random()
    if style < 0.08:
        return ""
    if style < 0.70:
        return str(seconds)
    if style < 0.85:
        return f"{seconds}s"
    return f"{seconds} sec" if style < 0.93 else f"{seconds - 2}-{seconds}s"


def wind(rng):
    speed = abs(rng.gauss(0, 7))
    style = rng.random()
    if style < 0.10:
        return ""
    if style < 0.40:
        return f"{speed:.1f}"
    if style < 0.70:
        return f"{rng.choice(DIRECTIONS)} {round(speed)} kn"
    if style < 0.80:
        return f"{round(speed)} mph {rng.choice(['offshore', 'onshore', 'cross-shore'])}"
    return rng.choice(["Light offshore", "Offshore", "Glassy", "None", "Onshore, bumpy", "Cross-shore"])


def rating(rng):
    return "" if rng.random() < 0.06 else str(rng.choices([1, 2, 3, 4, 5], [8, 18, 34, 28, 12])[0])


def date_text(rng, moment, offset):
    """The same day in one of the ways in which people and programs write it."""
    style = rng.random()
    if style < 0.68:
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    if style < 0.78:
        local = moment + datetime.timedelta(hours=offset)
        sign = "-" if offset < 0 else "+"
        return local.strftime("%Y-%m-%dT%H:%M:%S") + f"{sign}{abs(offset):02}:00"
    if style < 0.86:
        return moment.strftime("%Y-%m-%d")
    return f"{moment.month}/{moment.day}/{moment.year % 100:02}"


def session(rng, day):
    name, offset, usual, _ = rng.choices(SPOTS, [spot[3] for spot in SPOTS])[0]
    # Dawn patrol or after work, by the clock of the place.
    hour = rng.choices([6, 7, 8, 10, 13, 16, 17, 18], [9, 9, 6, 4, 2, 4, 6, 4])[0]
    local = datetime.datetime.combine(day, datetime.time(hour, rng.choice([0, 5, 10, 15, 20, 30, 40, 45])))
    moment = local - datetime.timedelta(hours=offset)
    if rng.random() < 0.004:
        name += "\nmoved once the tide was in"
    elif rng.random() < 0.01:
        name = ""
    return [date_text(rng, moment, offset), name, height(rng, usual), period(rng), wind(rng), rating(rng)]


def clean_sessions(rng, count):
    days = sorted(rng.randrange(DAYS) for _ in range(count))
    # Some sessions are written down weeks late, so the file is not quite sorted.
    written = [(day + (rng.randrange(1, 30) if rng.random() < 0.02 else 0), day) for day in days]
    return [session(rng, FIRST_DAY + datetime.timedelta(days=day)) for _, day in sorted(written)]


def field(text):
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text


def line(fields):
    return (",".join(field(text) for text in fields) + "\n").encode()


# --- The dirty log -----------------------------------------------------------------------------------------------

# Limits of the strict run; the default ones are far above anything in the file.
STRICT = {"key": ["date", "location"], "limits": {"fieldBytesMax": 4096, "recordBytesMax": 8192}}


class DirtyLog:
    """The file, and what each run must report of it."""

    def __init__(self, rng):
        self.rng = rng
        self.bytes = bytearray(line(COLUMNS))
        self.records = 0
        self.default = []
        self.strict = []

    def good(self, count):
        for fields in clean_sessions(self.rng, count):
            self.raw(line(fields), [])

    def raw(self, content, default, strict=None, why=None):
        """Adds one record. An issue is a code and the column it is about, or the number of a surplus field."""
        self.records += 1
        place = {
            "record": self.records,
            "line": 1 + sum(1 for at in range(len(self.bytes)) if self.ends_line(at)),
            "byte": len(self.bytes),
        }
        self.bytes += content
        for issues, found in ((default, self.default), (default if strict is None else strict, self.strict)):
            for code, subject in issues:
                issue = dict(place, code=code)
                if isinstance(subject, str):
                    issue.update(field=COLUMNS.index(subject) + 1, column=subject)
                elif subject is not None:
                    issue.update(field=subject)
                found.append(dict(issue, why=why))

    def ends_line(self, at):
        if self.bytes[at] == 0x0A:
            return True
        return self.bytes[at] == 0x0D and self.bytes[at + 1 : at + 2] != b"\n"

    def bad(self, why, issues, strict=None, **changes):
        """A record that is well-formed CSV."""
        fields = dict(zip(COLUMNS, ["2015-06-07T15:30:00Z", "Rincon", "3-5ft", "14", "Glassy", "4"]))
        # A date of its own for each, so that no two have the same key.
        fields["date"] = f"2015-06-{self.records % 28 + 1:02}T15:{self.records % 60:02}:00Z"
        fields.update(changes)
        self.raw(line(fields.values()), issues, strict, why)

    def run(self, name, settings, issues):
        rejected = len({issue["record"] for issue in issues})
        return dict(
            name=name, **settings, read=self.records, accepted=self.records - rejected, rejected=rejected,
            issues=issues)


def dirty_log(rng):
    log = DirtyLog(rng)
    log.good(5)
    log.bad("text where a date belongs", [("type-error", "date")], date="yesterday")
    log.bad("a day that no calendar has", [("type-error", "date")], date="2016-02-30")
    log.bad("29 February in a common year", [("type-error", "date")], date="2/29/15")
    log.bad("a month that no calendar has", [("type-error", "date")], date="13/0/14")
    log.good(2)
    log.bad("a date to come", [("constraint-error", "date")], date="2999-01-01T00:00:00Z")
    log.bad("a date before 1900", [("constraint-error", "date")], date="1899-12-31")
    log.bad("no date", [("constraint-error", "date")], date="")
    log.good(2)
    log.bad("a rating below 1", [("constraint-error", "rating")], rating="0")
    log.bad("a rating above 5", [("constraint-error", "rating")], rating="6")
    log.bad("a negative rating", [("constraint-error", "rating")], rating="-1")
    log.bad("a rating that is no whole number", [("type-error", "rating")], rating="4.5")
    log.bad("a rating in words", [("type-error", "rating")], rating="five stars")
    log.good(3)
    log.bad(
        "two things wrong at once", [("type-error", "date"), ("constraint-error", "rating")], date="soon",
        rating="11")
    log.raw(
        b"2015-07-01T14:00:00Z,Malibu,3.9,12,Offshore\n", [("missing-cell", "rating")],
        why="one field too few")
    log.raw(
        b"2015-07-02T14:00:00Z,Malibu\n",
        [("missing-cell", column) for column in COLUMNS[2:]], why="four fields too few")
    log.raw(
        b"2015-07-03T14:00:00Z,Malibu,3.9,12,Offshore,4,crowded\n", [("extra-cell", 7)],
        why="one field too many")
    log.raw(
        b"2015-07-04T14:00:00Z,Steamer Lane, Santa Cruz,3.9,12,4,4\n", [("extra-cell", 7)],
        why="a comma in a place that is not quoted: it makes one field too many")
    log.good(2)
    log.raw(b"\n", [("blank-row", None)], why="an empty line")
    log.raw(b"\r\n", [("blank-row", None)], why="an empty line that ends in CR LF")
    log.good(1)
    log.raw(
        "2015-07-05T09:00:00Z,".encode() + "Côte des Basques".encode("latin-1") + b",1.2m,9,Glassy,5\n",
        [("encoding-error", None)], why="a place in Latin-1: byte E9 or F4 alone is no UTF-8")
    log.raw(
        b"2015-07-06T09:00:00Z,Mundaka \xf0\x9f\x8c,1.2m,9,Glassy,5\n", [("encoding-error", None)],
        why="a character cut off in the middle")
    log.raw(b"2015-07-07T09:00:00Z,Zara\0utz,1.2m,9,Glassy,5\n", [("nul-byte", None)], why="a NUL byte")
    log.good(2)
    log.raw(
        b'2015-07-08T15:00:00Z,The "Box",6ft,15,Offshore,5\n', [("stray-quote", None)],
        why="a quote inside a field that is not quoted")
    log.raw(
        b'2015-07-09T15:00:00Z,"Ditch" Plains,3ft,9,Offshore,3\n', [("stray-quote", None)],
        why="text after a closing quote")
    log.good(1)
    log.raw(
        b'2015-07-10T15:00:00Z,"Ocean Beach,\nKelly\'s Cove",8ft,17,"E 5 kn, then none",9\n',
        [("constraint-error", "rating")], why="a rating above 5 in a record of two lines")
    log.good(1)
    log.bad(
        "a text of 1,200 characters", [("constraint-error", "location")],
        location="A long paddle out " * 66 + "and back ...")
    log.bad(
        "a field of 5,000 bytes", [("constraint-error", "wind")], [("field-too-long", None)],
        wind="gust " * 1000)
    log.bad(
        "a record of 12,000 bytes",
        [("constraint-error", column) for column in ("location", "height", "period", "wind")],
        [("record-too-long", None)],
        location="long " * 600, height="high " * 600, period="slow " * 600, wind="gale " * 600)
    log.good(2)
    twin = b'2015-08-01T06:15:00Z,"Supertubos, Peniche",6ft,13,Offshore,5\n'
    log.raw(twin, [])
    log.good(1)
    log.raw(twin, [], [("primary-key", None)], "the same date and place as an earlier record")
    log.raw(
        twin.replace(b",5\n", b",4\n").replace(b"6ft", b"7ft"), [], [("primary-key", None)],
        "the same date and place, rated otherwise")
    log.raw(b"2015-08-02T06:15:00Z,,,,,\r\n", [])
    log.good(4)
    log.raw(
        b'2015-08-03T06:15:00Z,"Rincon,4ft,14,Glassy,4\n', [("unterminated-quote", None)],
        why="a quote that is never closed: only its line is lost")
    log.raw(b"2015-08-04T06:15:00Z,Rincon,4ft,14,Glassy,4\n", [])
    return log


def expected_json(log):
    table = {
        "file": "surf-log-dirty.csv",
        "columns": COLUMNS,
        "runs": [log.run("default", {}, log.default), log.run("strict", STRICT, log.strict)],
    }
    # One issue a line: the file is read by people too.
    text = json.dumps(table, ensure_ascii=False, indent=2)
    compact = json.JSONDecoder().decode(text)
    for run in compact["runs"]:
        for issue in run["issues"]:
            pretty = json.dumps(issue, indent=2)
            indented = "\n".join("        " + part for part in pretty.splitlines()).lstrip()
            text = text.replace(indented, json.dumps(issue))
    return (text + "\n").encode()


# --- The spreadsheet ---------------------------------------------------------------------------------------------

DIARY_COLUMNS = ["Datum", "Uhrzeit", "Spot", "Wellenhöhe", "Periode (s)", "Wind", "Bewertung (1-5)", "Bemerkung"]
DIARY_SPOTS = [
    "Hossegor, La Gravière", "Seignosse, Les Estagnots", "Mundaka", "Zarautz", "Peniche, Supertubos", "Ericeira",
    "Norderney, Januskopf", "Sylt, Brandenburg", "Klitmøller",
]
DIARY_WINDS = ["ablandig, schwach", "auflandig", "windstill", "NW 12 km/h", "SO 3 Bft", "–", "seitlich ablandig", ""]
DIARY_REMARKS = [
    "", "", "mit Jörg", "Brett geliehen; zu kurz", 'erster "Green Room"', "kalt, 3/2 reicht nicht mehr", "voll", "Süßwasser",
    "Ende der Session: Gewitter",
]


def diary_height(rng):
    style = rng.random()
    if style < 0.45:
        return f"{rng.randrange(4, 30) / 10:.1f}".replace(".", ",") + " m"
    if style < 0.70:
        low = rng.randrange(2, 6)
        return f"{low}–{low + rng.choice([1, 2])} ft"
    return rng.choice(["hüfthoch", "brusthoch", "flach", "kopfhoch"]) if style < 0.95 else "1 m"


def diary(rng):
    """The sheet as Excel writes it, Windows-1252 with CRLF, and the entries in it."""
    rows, entries = [], []
    day = datetime.date(2013, 5, 4)
    for number in range(60):
        day += datetime.timedelta(days=rng.choice([1, 2, 5, 9, 20]))
        clock = "" if rng.random() < 0.15 else f"{rng.randrange(6, 20):02}:{rng.choice([0, 15, 30, 45]):02}"
        rating = "" if rng.random() < 0.1 else str(rng.randrange(1, 6))
        period = "" if rng.random() < 0.1 else str(rng.randrange(6, 16))
        fields = [
            day.strftime("%d.%m.%Y"), clock, rng.choice(DIARY_SPOTS), diary_height(rng), period, rng.choice(DIARY_WINDS),
            rating, rng.choice(DIARY_REMARKS),
        ]
        rows.append(fields)
        moment = f"{day.isoformat()}T{clock or '00:00'}:00Z"
        # A dash means that there was no wind to write down.
        wind = "" if fields[5] == "–" else fields[5]
        entries.append([moment, fields[3], period, wind, fields[2], rating])
        if number in (13, 29, 30, 47):
            rows.append([""] * len(DIARY_COLUMNS))
    lines = [["Surftagebuch Familie Müller"] + [""] * 7, ["Stand: 31.12.2014, alle Angaben ohne Gewähr"] + [""] * 7]
    lines += [DIARY_COLUMNS] + rows
    lines += [[""] * 8, ["Summe: 60 Tage"] + [""] * 5 + ["3,1", ""], [""] * 8]
    lines += [["* Höhen vom Strand aus geschätzt"] + [""] * 7]
    text = "".join(";".join(sheet_field(field) for field in fields) + "\r\n" for fields in lines)
    return text.encode("cp1252"), expected_csv(entries)


def sheet_field(text, delimiter=";"):
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in delimiter + '"\r\n') else text


SHEET_COLUMNS = ["Timestamp", "Spot", "Wave height", "Period", "Wind", "Rating", "Crowded", "Notes"]
SHEET_SPOTS = [
    "Hossegor, La Gravière", "Ericeira, Ribeira d'Ilhas", "Croyde", "Thurso East", "Fistral Beach\n(north end)", "Saunton Sands",
    "Bundoran, The Peak",
]
SHEET_WINDS = ["offshore", "NW 12 km/h", "light, cross-shore", "none", "onshore"]
SHEET_NOTES = ["", "", "with Ann", 'first "green room"\nthen lunch', "late; alone", "3/2 is not enough\n\nbuy boots", "#1 of the year"]


def google_sheet(rng):
    """The answers of a form as Google Sheets exports them: UTF-8, commas, CRLF but none at the end, and the dates and
    check boxes of a British locale."""
    rows, entries = [SHEET_COLUMNS], []
    moment = datetime.datetime(2014, 1, 3, 7, 30)
    for _ in range(48):
        moment += datetime.timedelta(days=rng.choice([1, 3, 4, 7, 11]), minutes=rng.randrange(-40, 40))
        moment = moment.replace(second=rng.randrange(60))
        spot, wind = rng.choice(SHEET_SPOTS), rng.choice(SHEET_WINDS)
        size, period = f"{rng.randrange(3, 32) / 10:.1f}", f"{rng.randrange(60, 160) / 10:g}"
        rating = "" if rng.random() < 0.1 else str(rng.randrange(1, 6))
        rows.append([
            moment.strftime("%d/%m/%Y %H:%M:%S"), spot, size, period, wind, rating, rng.choice(["TRUE", "FALSE"]),
            rng.choice(SHEET_NOTES),
        ])
        entries.append([moment.strftime("%Y-%m-%dT%H:%M:%SZ"), size, period, wind, spot, rating])
    text = "\r\n".join(",".join(sheet_field(field, ",") for field in fields) for fields in rows)
    return text.encode(), expected_csv(entries)


def numbers_sheet(rng):
    """A German table as Numbers exports it: UTF-8, semicolons, decimal commas."""
    rows = [["Datum", "Ort", "Wellenhöhe", "Periode", "Wind", "Bewertung", "Voll", "Bemerkung"]]
    entries, day = [], datetime.date(2014, 2, 1)
    for _ in range(45):
        day += datetime.timedelta(days=rng.choice([1, 2, 6, 9]))
        spot, wind = rng.choice(DIARY_SPOTS), rng.choice(["ablandig", "auflandig; böig", "windstill", "NW 12,5 km/h", ""])
        size, period = (f"{number / 10:.1f}".replace(".", ",") for number in (rng.randrange(3, 32), rng.randrange(60, 160)))
        rating = "" if rng.random() < 0.1 else str(rng.randrange(1, 6))
        clock = f"{rng.randrange(6, 20):02}:{rng.choice([0, 15, 30, 45]):02}"
        rows.append([
            f"{day.strftime('%d.%m.%Y')} {clock}", spot, size, period, wind, rating, rng.choice(["WAHR", "FALSCH"]),
            rng.choice(DIARY_REMARKS),
        ])
        entries.append([f"{day.isoformat()}T{clock}:00Z", size, period, wind, spot, rating])
    text = "".join(";".join(sheet_field(field) for field in fields) + "\n" for fields in rows)
    return text.encode(), expected_csv(entries)


def expected_csv(entries):
    """Entries as an export of date, height, period, wind, location and rating writes them."""
    return b"".join(line(fields) for fields in [["date", "height", "period", "wind", "location", "rating"]] + entries)


# --- The reports of a web service --------------------------------------------------------------------------------

REPORT_PIPELINE = """\
// Reads the reports of a web service: JSON Lines with nested objects and Unix times.
{
  "name": "spot-reports",
  "source": "spot-reports.jsonl",
  "dialect": { "format": "jsonl" },
  "extraColumns": "ignore",
  "columns": [
    { "name": "timestamp", "attribute": "date", "formats": "unix", "required": true, "rules": ["required"] },
    { "name": "spot.name", "attribute": "location" },
    { "name": "wave.height", "attribute": "height" },
    { "name": "swell.period", "attribute": "period" },
    { "name": "wind.speed", "attribute": "wind" },
    // Older reports have the number itself, newer ones an object.
    { "name": "rating", "synonyms": ["rating.value"], "rules": [{ "rule": "range", "min": 1, "max": 5 }] }
  ]
}
"""


def spot_report(rng, moment, number):
    """A report as a service sends it, and the entry that must come of it."""
    name = rng.choice(SPOTS)[0]
    height, period = round(rng.uniform(0.2, 4), rng.choice([1, 2, 6])), rng.randrange(5, 19)
    wind = rng.choice([None, round(rng.uniform(0, 14), 1)])
    rating = rng.choice([None, 1, 2, 3, 4, 5])
    report = {
        "timestamp": int((moment - datetime.datetime(1970, 1, 1)).total_seconds()),
        "utcOffset": rng.choice([-8, 0, 1, 9.5]),
        "spot": {"id": f"{rng.getrandbits(64):016x}", "name": name, "camera": rng.random() < 0.5},
        "wave": {"height": height, "unit": "m", "parts": [{"height": height, "direction": rng.randrange(360)}]},
        "swell": {"period": period, "direction": rng.randrange(360)},
        "wind": {"speed": wind, "direction": rng.randrange(360), "kind": rng.choice(["Offshore", "Onshore"])},
        "rating": rating if number % 3 else {"value": rating, "key": None if rating is None else f"R{rating}"},
    }
    if wind is None and rng.random() < 0.5:
        report["wind"] = None
    if rng.random() < 0.1:
        del report["swell"]
        period = None
    fields = [moment.strftime("%Y-%m-%dT%H:%M:%SZ"), height, period, wind, name, rating]
    return report, ["" if value is None else str(value) for value in fields]


# What is wrong with a line, the code of its issue, and the column that it is about.
BROKEN_REPORTS = [
    ("an array instead of an object", "json-error", None, b'[1405323000, "Rincon"]'),
    ("a line that was cut off", "json-error", None, b'{"timestamp": 1405323000, "spot": {"name": "Rin'),
    ("single quotes", "json-error", None, b"{'timestamp': 1405323000}"),
    ("a number that JSON does not have", "json-error", None, b'{"timestamp": 1405323000, "wave": {"height": NaN}}'),
    ("half of a surrogate pair", "json-error", "spot.name", b'{"timestamp": 1405323000, "spot": {"name": "\\ud83c"}}'),
    ("a member twice", "duplicate-member", "timestamp", b'{"timestamp": 1405323000, "timestamp": 1405323001}'),
    ("an array as a value", "type-error", "spot.name", b'{"timestamp": 1405323000, "spot": {"name": ["Rincon"]}}'),
    ("an object as a value", "type-error", "wave.height", b'{"timestamp": 1405323000, "wave": {"height": {"m": 1}}}'),
    ("a number where objects are", "type-error", None, b'{"timestamp": 1405323000, "wave": 1.5}'),
    ("a text where a date belongs", "type-error", "timestamp", b'{"timestamp": "2014-07-14", "spot": null}'),
    ("a rating above 5", "constraint-error", "rating", b'{"timestamp": 1405323000, "rating": 6}'),
    ("no date", "constraint-error", "timestamp", b'{"timestamp": null, "spot": {"name": "Rincon"}}'),
    ("Latin-1", "encoding-error", None, '{"timestamp": 1405323000, "spot": {"name": "Nazaré"}}'.encode("latin-1")),
    ("no member of a column", "blank-row", None, b'{"status": "ok"}'),
]


def spot_reports(rng):
    """The reports with broken lines between, the entries, and the issues."""
    content, entries, issues = bytearray(), [], []
    moment = datetime.datetime(2014, 7, 14, 5, 0)
    broken = list(BROKEN_REPORTS)
    records = lines = 0
    for number in range(140):
        moment += datetime.timedelta(minutes=rng.choice([15, 60, 180, 725]))
        report, entry = spot_report(rng, moment, number)
        # Some services escape everything beyond ASCII, and not all write the same white space.
        text = json.dumps(report, ensure_ascii=number % 2 == 0, separators=(",", ":") if number % 5 else (", ", ": "))
        content += text.encode() + (b"\r\n" if number % 11 == 0 else b"\n")
        entries.append(entry)
        records += 1
        lines += 1
        if number % 17 == 3:
            content += b"\n"
            lines += 1
        if number % 10 == 9 and broken:
            why, code, column, bad = broken.pop(0)
            records += 1
            issue = {"record": records, "line": lines + 1, "byte": len(content), "code": code}
            if column:
                issue["column"] = column
            issues.append(dict(issue, why=why))
            content += bad + b"\n"
            lines += 1
    header = ["date", "height", "period", "wind", "location", "rating"]
    table = "[\n" + ",\n".join("  " + json.dumps(issue) for issue in issues) + "\n]\n"
    return bytes(content), line(header) + b"".join(line(entry) for entry in entries), table.encode()


# Two spots have one name: a session names both attributes.
LINKED_SPOTS = [
    ("Rincon", "US"), ("The Point", "US"), ("The Point", "ZA"), ("Hossegor", "FR"), ("Bells Beach", "AU"),
    ("Ericeira", "PT"), ("Pico Alto", "PE"), ("Raglan", "NZ"), ("Thurso East", "GB"), ("Punta de Lobos", "CL"),
]
LINKED_BOARDS = [("Fish", 5.6), ("Shortboard", 6.1), ("Mini Malibu", 7.2), ("Longboard", 9.1), ("Gun", 8.0)]


def linked_log(rng):
    """Spots, boards, and sessions that name them."""
    spots = line(["name", "country"]) + b"".join(line([name, country]) for name, country in LINKED_SPOTS)
    boards = line(["name", "length"]) + b"".join(line([name, str(length)]) for name, length in LINKED_BOARDS)
    sessions = line(["date", "spot", "country", "boards", "rating", "notes"])
    day = datetime.date(2023, 1, 1)
    for _ in range(LINKED_SESSIONS):
        day += datetime.timedelta(days=rng.choice([1, 1, 2, 3]))
        name, country = ("", "") if rng.random() < 0.03 else rng.choice(LINKED_SPOTS)
        named = rng.sample([board for board, _ in LINKED_BOARDS], rng.choice([0, 1, 1, 1, 2]))
        rated = "" if rng.random() < 0.1 else str(rng.randrange(1, 6))
        sessions += line([day.isoformat(), name, country, "; ".join(named), rated, rng.choice(["", "", "clean, empty"])])
    return spots, boards, sessions


def zipped(content):
    """gzip without time and name, so that equal content gives equal bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def main():
    folder = pathlib.Path(__file__).resolve().parent
    clean = line(COLUMNS) + b"".join(line(fields) for fields in clean_sessions(random.Random(SEED), SESSIONS))
    log = dirty_log(random.Random(SEED + 1))
    sheet, sheet_entries = diary(random.Random(SEED + 2))
    google, google_entries = google_sheet(random.Random(SEED + 3))
    numbers, numbers_entries = numbers_sheet(random.Random(SEED + 4))
    reports, report_entries, report_issues = spot_reports(random.Random(SEED + 3))
    spots, boards, sessions = linked_log(random.Random(SEED + 5))
    files = {
        "surf-log.csv": clean,
        "surf-log.csv.gz": zipped(clean),
        "surf-log-dirty.csv": bytes(log.bytes),
        "surf-log-dirty.expected.json": expected_json(log),
        "surftagebuch.csv": sheet,
        "surftagebuch.expected.csv": sheet_entries,
        "google-sheets.csv": google,
        "google-sheets.expected.csv": google_entries,
        "numbers.csv": numbers,
        "numbers.expected.csv": numbers_entries,
        "spots.csv": spots,
        "boards.csv": boards,
        "sessions.csv": sessions,
        "spot-reports.jsonl": reports,
        "spot-reports.json": REPORT_PIPELINE.encode(),
        "spot-reports.expected.csv": report_entries,
        "spot-reports.expected.json": report_issues,
    }
    if sys.argv[1:] == ["--check"]:
        stale = [name for name, content in files.items() if not is_current(folder / name, content)]
        if stale:
            sys.exit(f"{', '.join(stale)}: not what generate.py writes. Run 'make generate' and commit the result.")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        for name, content in files.items():
            (folder / name).write_bytes(content)
            print(f"SampleData/{name}: {len(content):,} bytes")


def is_current(path, content):
    if not path.exists():
        return False
    stored = path.read_bytes()
    # Another version of zlib may compress otherwise; what comes out of it counts.
    if path.suffix == ".gz":
        return gzip.decompress(stored) == gzip.decompress(content)
    return stored == content


if __name__ == "__main__":
    main()
