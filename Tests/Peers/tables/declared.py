"""Tables whose dialect is declared, by options of `import` or by a pipeline file."""

import dataclasses
import datetime
import json
import zoneinfo

from writing import Dialect, PythonWriter, Writer, encoded, is_encodable

# The attributes of the entity `Sample`: name, type in the model.
ATTRIBUTES = {
    "note": "String", "place": "String", "memo": "String", "count": "Integer 32", "size": "Double", "price": "Decimal",
    "good": "Boolean", "moment": "Date",
}
TEXTS = [name for name, kind in ATTRIBUTES.items() if kind == "String"]

# The name that is declared, or None; Python's codec; whether a byte order mark is put in front.
ENCODINGS = [
    (None, "utf-8", False), ("utf-8", "utf-8", False), (None, "utf-8-sig", False), ("utf-8", "utf-8-sig", False),
    (None, "utf-16", False), ("utf-16", "utf-16", False), ("utf-16le", "utf-16-le", False),
    ("UTF-16BE", "utf-16-be", False), (None, "utf-16-le", True), ("utf-16be", "utf-16-be", True),
    (None, "utf-32", False), ("utf-32le", "utf-32-le", False), ("utf-32be", "utf-32-be", True),
    ("iso-8859-1", "latin-1", False), ("latin1", "latin-1", False), ("windows-1252", "cp1252", False),
    ("cp1252", "cp1252", False), ("iso-8859-15", "iso8859-15", False), ("iso-8859-2", "iso8859-2", False),
    ("windows-1250", "cp1250", False), ("windows-1251", "cp1251", False), ("koi8-r", "koi8-r", False),
    ("cp437", "cp437", False), ("cp850", "cp850", False), ("macintosh", "mac_roman", False),
    ("gb18030", "gb18030", False), ("euc-jp", "euc_jp", False), ("euc-kr", "euc_kr", False), ("big5", "big5", False),
    ("cp932", "cp932", False),
]
LETTERS = "aZ09é ßñ€Žśжщ漢字かな한中’“–\u00a0\u0085\u2028\u0301𝄞ﬁ\ufeff\x1c\t"
# What Python's codec has in addition to the standard, and the C library maps to characters of private use.
PRIVATE = {"big5": "жщかな"}
FORMATS = {
    "iso8601": "%Y-%m-%dT%H:%M:%S", "d.M.yyyy HH:mm:ss": "%d.%m.%Y %H:%M:%S", "yyyy/MM/dd HH:mm": "%Y/%m/%d %H:%M",
    "dd-MM-yyyy HH'h'mm": "%d-%m-%Y %Hh%M", "yyyyMMddHHmmss": "%Y%m%d%H%M%S",
}


def signs(rng):
    """A dialect without a contradiction."""
    while True:
        d = Dialect()
        d.delimiter = rng.choice([",", ",", ";", "\t", "|", "~", "^", ":", " ", "||", "::", ", ", "<>", "§", "→", "ab"])
        d.quote = rng.choice(['"', '"', '"', "'", "%", "`", None])
        d.escape = rng.choice([None, None, "\\", "!"])
        d.doubles = rng.random() < (0.5 if d.escape else 0.95)
        d.comment = rng.choice([None, None, "#", "//", "REM ", "%"])
        d.skips_space = rng.random() < 0.2
        d.terminator = rng.choice([None, None, None, "\n", "\r", "|\n", "\x1e", "EOL", ";\n"])
        d.line_ends = rng.choice([("\n",), ("\r\n",), ("\r",), ("\n", "\r\n"), ("\n", "\r\n", "\r")])
        d.nulls = rng.choice([(), (), ("\\N",), ("NULL", ""), ("-", "n/a"), ("nil",), ("", "?")])
        d.quoting = rng.choice([0, 0.1, 0.5, 1])
        used = [d.delimiter, d.quote, d.escape, d.comment, d.terminator]
        letters = [set(text) for text in used if text]
        if sum(map(len, letters)) != len(set().union(*letters)):
            continue
        if any(set(token) & (d.signs() - {d.escape}) or (d.comment and token.startswith(d.comment)) for token in d.nulls):
            continue
        if d.skips_space and d.delimiter[0] == " ":
            continue
        if not d.can_write("x") or (d.quote is None and d.delimiter in ".:-"):
            continue
        return d


class Values:
    """Random texts of a file, with the values that they mean."""

    def __init__(self, rng, d, codec, is_plain):
        self.rng, self.d, self.codec = rng, d, codec
        # Whether the csv module writes the table, which has no text for no value.
        self.is_plain = is_plain
        self.decimal, self.group = rng.choice(
            [(".", None), (".", None), (",", None), (",", "."), (".", ","), (",", "'"), (",", "\u00a0")])
        self.words = rng.choice([None, (["ja", "x"], ["nein", "o"]), (["wahr"], ["falsch"]), (["да"], ["нет"])])
        self.form = rng.choice(list(FORMATS))
        self.zone = rng.choice([None, "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata"])
        self.stop = rng.choice([None, None, "Total", "Summe"])
        structure = [d.delimiter, d.quote, d.escape, d.comment, d.terminator, *d.nulls]
        parts = [letter for letter in LETTERS if is_encodable(letter, codec) and letter not in PRIVATE.get(codec, "")]
        parts += [text for text in structure if text]
        self.parts = parts + [d.delimiter[0], "\n", "\r", "\r\n", '"', "'", "  ", "bells", "Rincon"]

    def are_possible(self):
        """Whether the encoding has the characters, and no delimiter is in a number that can't be quoted."""
        words = "".join(sum(self.words or [], []))
        if not is_encodable((self.group or "") + words, self.codec) or (words and self.codec in PRIVATE):
            return False
        return bool(self.d.quote) or self.d.delimiter not in (self.decimal, self.group)

    def text(self):
        while True:
            made = "".join(self.rng.choice(self.parts) for _ in range(self.rng.randrange(0, 7)))
            if made == "":
                # An empty text where there is a text for no value; no value otherwise.
                return "" if self.d.nulls and "" not in self.d.nulls and not self.is_plain else None
            is_footer = self.stop and made.startswith(self.stop)
            if self.d.can_write(made) and is_encodable(made, self.codec) and not is_footer:
                return made

    def number(self, digits):
        rng = self.rng
        sign, whole = rng.choice(["", "", "-"]), rng.choice([0, 7, 42, 999, 1000, 1234567, rng.randrange(10**7)])
        fraction = "".join(rng.choice("0123456789") for _ in range(digits))
        grouped = f"{whole:,}" if self.group and rng.random() < 0.7 else str(whole)
        written = sign + grouped.replace(",", self.group or "") + (self.decimal + fraction if fraction else "")
        return written, f"{sign}{whole}" + ("." + fraction if fraction else "")

    def truth(self):
        truth = self.rng.random() < 0.5
        yes, no = self.words or (["true", "YES", "1"], ["False", "no", "0"])
        word = self.rng.choice(yes if truth else no)
        return (word.upper() if word.isascii() and self.rng.random() < 0.3 else word), int(truth)

    def moment(self):
        rng, has_seconds = self.rng, "ss" in self.form or "iso" in self.form
        moment = datetime.datetime(
            rng.randrange(1995, 2023), rng.randrange(1, 13), rng.randrange(1, 29), rng.randrange(4, 24),
            rng.randrange(60), rng.choice([0, rng.randrange(60)]) if has_seconds else 0)
        here = moment.replace(tzinfo=zoneinfo.ZoneInfo(self.zone or "UTC"))
        epoch = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
        return moment.strftime(FORMATS[self.form]), (here - epoch).total_seconds()

    def value(self, attribute):
        """A text of the file, and the value that it means."""
        kind = ATTRIBUTES.get(attribute, "String")
        if kind == "String":
            made = self.text()
            return made, made
        if self.rng.random() < 0.15:
            return None, None
        if kind == "Boolean":
            return self.truth()
        if kind == "Date":
            return self.moment()
        written, plain = self.number(0 if kind == "Integer 32" else self.rng.randrange(0, 4))
        return written, int(plain) if kind == "Integer 32" else float(plain)


def header(rng, labels, count):
    """The labels in several rows: their words one below the other, next to empty fields."""
    rows = [[""] * len(labels) for _ in range(count)]
    for column, label in enumerate(labels if count else []):
        words = label.split(" ") if count > 1 and rng.random() < 0.7 else [label]
        cuts = sorted(rng.sample(range(1, len(words)), min(count, len(words)) - 1))
        pieces = [" ".join(words[a:b]) for a, b in zip([0] + cuts, cuts + [None])]
        first = rng.randrange(count - len(pieces) + 1)
        for row, piece in enumerate(pieces, first):
            rows[row][column] = piece
    return rows


class Table:
    """The text of one file, record by record, and the entries that it means."""

    def __init__(self, rng, d, values, writer, columns, ragged, skips_blank):
        self.rng, self.d, self.values, self.writer, self.columns = rng, d, values, writer, columns
        self.ragged, self.skips_blank = ragged, skips_blank
        self.is_text = [name is None or name in TEXTS for name in columns]
        self.content, self.entries, self.rejected = "", [], 0

    def add_titles(self, count):
        signs = ["My log", self.d.delimiter, self.d.quote or "", " ", "2014"]
        for _ in range(count):
            self.content += "".join(self.rng.choice(signs) for _ in range(4)) + self.writer.end()

    def add_noise(self):
        """Comments and blank rows."""
        d, rng = self.d, self.rng
        if d.comment and rng.random() < 0.15:
            self.content += d.comment + rng.choice([" note", d.delimiter * 3, d.quote or "", ""]) + self.writer.end()
        if self.skips_blank and rng.random() < 0.15:
            self.content += rng.choice(["", d.delimiter * (len(self.columns) - 1)]) + self.writer.end()

    def add_record(self):
        pairs = [self.values.value(name) for name in self.columns]
        fields, entry, is_kept = [pair[0] for pair in pairs], dict(zip(self.columns, [pair[1] for pair in pairs])), True
        if self.rng.random() < 0.12 and type(self.writer) is Writer:
            made = self.few(fields, entry) if self.rng.random() < 0.5 else self.many(fields, entry)
            if made is None:
                return
            fields, is_kept = made
        if not all(self.writer.can_write(field) for field in fields if field):
            return
        line = self.writer.record(fields, self.is_text + [True] * (len(fields) - len(self.is_text)))
        is_blank = all(field in (None, "") for field in fields)
        if is_blank or (self.d.comment and line.startswith(self.d.comment)):
            return
        self.content += line
        if is_kept:
            self.entries.append([entry.get(name) for name in ATTRIBUTES])
        else:
            self.rejected += 1

    def few(self, fields, entry):
        """A record that lacks its last field, which `pad` takes as empty."""
        if len(fields) < 3:
            return None
        entry[self.columns[-1]] = "" if self.d.nulls and "" not in self.d.nulls else None
        return fields[:-1], "pad" in self.ragged

    def many(self, fields, entry):
        surplus = [self.rng.choice(["more", "x y", "7"]) for _ in range(self.rng.randrange(1, 3))]
        if "joinLast" in self.ragged:
            # What is joined is only clear for fields that are written as they are.
            if not fields[-1] or self.d.skips_space or self.d.quoting or self.writer.field(fields[-1]) != fields[-1]:
                return None
            entry[self.columns[-1]] = self.d.delimiter.join([fields[-1]] + surplus)
        return fields + surplus, "truncate" in self.ragged or "joinLast" in self.ragged

    def add_footer(self, last):
        rest = len(self.columns) - 1
        for _ in range(last):
            self.content += self.writer.record(["Average"] + ["9"] * rest)
        if self.values.stop:
            self.content += self.writer.record([self.values.stop + ": 7"] + [""] * rest) + "anything" + self.writer.end()


def table(rng, name):
    """One file with what it means; None where the random choice can't be written."""
    d = signs(rng)
    declared, codec, has_mark = rng.choice(ENCODINGS)
    is_plain = PythonWriter.knows(d) and rng.random() < 0.5
    writer = PythonWriter(d, rng) if is_plain else Writer(d, rng)
    values = Values(rng, d, codec, is_plain)
    if not values.are_possible():
        return None
    ragged = rng.choice([[], [], ["pad"], ["truncate"], ["joinLast"], ["pad", "joinLast"], ["pad", "truncate"]])
    attributes = rng.sample(list(ATTRIBUTES), rng.randrange(2, 7))
    if ragged or not set(attributes) & set(TEXTS):
        # The column that takes surplus fields, and that may be missing.
        attributes = [name for name in attributes if name != "memo"] + ["memo"]
    columns = list(attributes)
    if not ragged and rng.random() < 0.3:
        columns.insert(rng.randrange(len(columns)), None)  # a column that no attribute has
    table = Table(rng, d, values, writer, columns, ragged, rng.random() < 0.4)

    titles, last = rng.choice([0, 0, 1, 3]), 0 if values.stop else rng.choice([0, 0, 1, 3])
    header_rows, from_pipeline = rng.choice([0, 1, 1, 1, 2, 3]), rng.random() < 0.5
    labels = {name: f"The {name} of Day" if from_pipeline else name for name in attributes}
    rows = header(rng, [labels.get(name, "zz") for name in columns], header_rows)
    if not all(any(row) for row in rows) or not all(map(d.can_write, labels.values())):
        return None
    table.add_titles(titles)
    head = writer if is_plain else Writer(dataclasses.replace(d, nulls=()), rng)
    table.content += "".join(map(head.record, rows))
    for _ in range(rng.choice([1, 5, 20, 60])):
        table.add_noise()
        table.add_record()
    table.add_footer(last)
    if not is_encodable(table.content, codec):
        return None

    dialect = {
        "encoding": declared, "delimiter": d.delimiter, "quote": d.quote, "doubleQuote": d.doubles, "escapeChar": d.escape,
        "lineTerminator": d.terminator, "commentChar": d.comment, "skipInitialSpace": d.skips_space, "skipRows": titles,
        "headerRows": header_rows, "skipBlankRows": table.skips_blank, "stopAt": values.stop, "skipLastRows": last,
        "raggedRows": ragged or ["error"], "nullSequences": list(d.nulls), "decimalChar": values.decimal,
        "groupChar": values.group,
    }
    if values.words:
        dialect.update(trueValues=values.words[0], falseValues=values.words[1])
    if not header_rows:
        dialect["columns"] = [labels.get(name, "") for name in columns]
    if from_pipeline:
        arguments = pipeline(name, dialect, attributes, labels, values.form, values.zone)
    else:
        arguments = options(dialect, values.form, values.zone)
    what = f"{type(writer).__name__} {codec} {dialect}"
    return encoded(table.content, codec, has_mark), table.entries, table.rejected, arguments, what


def pipeline(name, dialect, attributes, labels, form, zone):
    """Writes the dialect into a pipeline's file."""
    usual = {"lineTerminator": None, "nullSequences": [], "skipRows": 0, "skipLastRows": 0}
    chosen = {key: value for key, value in dialect.items() if value is not None or key == "quote"}
    chosen = {key: value for key, value in chosen.items() if usual.get(key, ...) != value}
    columns = []
    for attribute in attributes:
        column = {"name": labels[attribute], "attribute": attribute}
        if attribute == "moment":
            column["formats"] = [form]
        columns.append(column)
    definition = {"name": name, "model": "Sample.xcdatamodel", "entity": "Sample", "dialect": chosen, "columns": columns,
                  "extraColumns": "ignore"}
    if zone:
        definition["timeZone"] = zone
    with open(name + ".pipeline.json", "w", encoding="utf-8") as file:
        json.dump(definition, file, ensure_ascii=False)
    return ["--pipeline", name + ".pipeline.json"]


def options(dialect, form, zone):
    """The dialect as options of the command line."""
    arguments = ["--entity", "Sample", "--model", "Sample.xcdatamodel", "--date-format", form, "--extra-columns", "ignore"]
    arguments += ["--missing-columns", "ignore", "--delimiter", dialect["delimiter"].replace("\t", "\\t")]
    arguments += ["--quote", dialect["quote"] or ""]
    texts = {"encoding": "encoding", "escapeChar": "escape", "commentChar": "comment", "stopAt": "stop-at",
             "decimalChar": "decimal", "groupChar": "group"}
    for key, option in texts.items():
        if dialect[key] is not None:
            arguments += [f"--{option}", dialect[key]]
    if dialect["lineTerminator"]:
        arguments += ["--line-terminator", dialect["lineTerminator"].replace("\r", "\\r").replace("\n", "\\n")]
    if not dialect["doubleQuote"]:
        arguments += ["--no-double-quote"]
    if dialect["skipInitialSpace"]:
        arguments += ["--skip-initial-space"]
    if dialect["skipBlankRows"]:
        arguments += ["--skip-blank-rows"]
    for key, option in {"skipRows": "skip-rows", "skipLastRows": "skip-last-rows"}.items():
        arguments += [f"--{option}", str(dialect[key])]
    if dialect["headerRows"]:
        arguments += ["--header-rows", str(dialect["headerRows"])]
    else:
        arguments += ["--columns", ",".join(dialect["columns"])]
    lists = {"raggedRows": "ragged-rows", "nullSequences": "null", "trueValues": "true", "falseValues": "false"}
    for key, option in lists.items():
        for text in dialect.get(key, []):
            arguments += [f"--{option}={text}"]
    if zone:
        arguments += ["--time-zone", zone]
    return arguments
