"""How a table is written: a dialect, and writers of it.

The csv module of Python writes what it knows. `Writer` knows the rest: delimiters of several characters, texts for no
value, comments, line terminators of any characters, spaces before fields.
"""

import csv
import dataclasses
import io


@dataclasses.dataclass
class Dialect:
    delimiter: str = ","
    quote: str | None = '"'
    doubles: bool = True
    escape: str | None = None
    terminator: str | None = None  # None: line_ends, of which each record has one
    line_ends: tuple = ("\n",)
    comment: str | None = None
    skips_space: bool = False
    nulls: tuple = ()
    quoting: float = 0.1  # the share of fields that are quoted without need

    def signs(self):
        """The characters that end or change a field wherever they are."""
        ends = self.terminator[0] if self.terminator else "\r\n"
        return set(self.delimiter[0] + ends + (self.quote or "") + (self.escape or ""))

    def can_write(self, text):
        if self.quote and (self.doubles or self.escape or self.quote not in text):
            return True
        if self.quote:
            return False
        if self.escape:
            return True
        begins = (self.comment and text.startswith(self.comment)) or (self.skips_space and text.startswith(" "))
        return not (begins or text in self.nulls or self.signs() & set(text))


class Writer:
    def __init__(self, dialect, rng, spaces=(0, 0, 1, 2)):
        self.dialect, self.rng, self.spaces = dialect, rng, spaces

    def can_write(self, text):
        return self.dialect.can_write(text)

    def field(self, text, is_first=False, is_text=True):
        """The characters of a field; None stands for no value."""
        d = self.dialect
        if text is None:
            tokens = [token for token in d.nulls if token]
            if not is_text or "" in d.nulls:
                tokens.append("")
            return self.rng.choice(tokens or [""])
        needs = d.signs() & set(text) or text in d.nulls
        needs = needs or (is_first and d.comment and text.startswith(d.comment)) or (d.skips_space and text.startswith(" "))
        if not needs and self.rng.random() >= d.quoting:
            return text
        if d.quote and (d.escape is None or self.rng.random() < 0.7):
            return d.quote + self.within_quotes(text) + d.quote
        return self.escaped(text, is_first) if d.escape and needs else text

    def within_quotes(self, text):
        d = self.dialect
        if d.escape:
            text = text.replace(d.escape, d.escape * 2)
        as_two = d.doubles and (d.escape is None or self.rng.random() < 0.5)
        return text.replace(d.quote, d.quote * 2 if as_two else (d.escape or "") + d.quote) if d.quote else text

    def escaped(self, text, is_first):
        """Without quotes: an escape character before each sign."""
        d = self.dialect
        signs = d.signs()
        begins = text in d.nulls or (is_first and d.comment and text.startswith(d.comment))
        begins = begins or (d.skips_space and text.startswith(" "))
        return "".join(
            d.escape + sign if sign in signs or (at == 0 and begins) else sign for at, sign in enumerate(text))

    def end(self):
        return self.dialect.terminator or self.rng.choice(self.dialect.line_ends)

    def record(self, fields, is_text=None):
        """A record of texts; `is_text` says which of them belong to attributes that are texts."""
        is_text = is_text or [True] * len(fields)
        written = [self.field(text, at == 0, is_text[at]) for at, text in enumerate(fields)]
        if self.dialect.skips_space:
            written = [" " * self.rng.choice(self.spaces) + field for field in written]
        line = self.dialect.delimiter.join(written)
        if self.dialect.comment and line.startswith(self.dialect.comment):
            raise ValueError("a record that is a comment")
        return line + self.end()


class PythonWriter:
    """The same with the csv module."""

    def __init__(self, dialect, rng):
        self.rng = rng
        end = dialect.terminator or rng.choice(dialect.line_ends)
        self.is_end_declared = dialect.terminator is not None
        self.options = dict(
            delimiter=dialect.delimiter, quotechar=dialect.quote, doublequote=dialect.doubles, escapechar=dialect.escape,
            lineterminator=end, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))

    @staticmethod
    def knows(dialect):
        """Whether the module writes what the dialect means."""
        return (
            len(dialect.delimiter) == 1 and dialect.quote and dialect.doubles != bool(dialect.escape) and not dialect.nulls
            and not dialect.comment and not dialect.skips_space and dialect.terminator in (None, "\n", "\r", "\r\n"))

    def can_write(self, text):
        """The module quotes only those line ends that are its line terminator's."""
        return self.is_end_declared or not (set("\r\n") - set(self.end())) & set(text)

    def end(self):
        return self.options["lineterminator"]

    def record(self, fields, is_text=None):
        text = io.StringIO(newline="")
        csv.writer(text, **self.options).writerow(["" if field is None else field for field in fields])
        return text.getvalue()


def is_encodable(text, codec):
    try:
        return text.encode(codec).decode(codec) == text
    except UnicodeError:
        return False


def encoded(text, codec, has_mark):
    """The bytes of a file; with a byte order mark where the codec leaves it to its callers."""
    return (("\ufeff" if has_mark else "") + text).encode(codec)
