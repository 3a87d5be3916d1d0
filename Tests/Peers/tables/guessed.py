"""Surf logs of people, whose form `surfjournal guess` has to find out."""

import datetime

from writing import Dialect, PythonWriter, Writer, encoded, is_encodable

ENCODINGS = [("utf-8", False), ("utf-8", False), ("utf-8-sig", False), ("utf-16", False), ("utf-16-le", False),
             ("utf-16-be", True), ("utf-32", False), ("cp1252", False), ("cp1252", False), ("latin-1", False),
             ("mac_roman", False), ("cp850", False)]
# Labels of date, height, period, wind, location, rating, and of a column that no attribute has.
LABELS = [
    ["Date", "Height", "Period", "Wind", "Spot", "Rating", "Notes"],
    ["date", "wave height", "period (s)", "wind", "location", "rating", "comment"],
    ["Datum", "Wellenhöhe", "Periode", "Wind", "Ort", "Bewertung", "Bemerkung"],
    ["Fecha", "Altura", "Periodo", "Viento", "Lugar", "Valoración", "Notas"],
    ["Date", "Hauteur", "Période", "Vent", "Lieu", "Note", "Remarques"],
]
SPOTS = ["Rincon", "Hossegor, La Gravière", "Mundaka", "C Street; Ventura", "María's", 'the "Box"', "Bells Beach", "Jardim do Mar",
         "Malibu\nFirst Point", "Sylt | Brandenburg", "Süd\\Strand"]
WINDS = ["offshore", "NW 12 km/h", "Glassy", "Light, then none", "S; gusts", "onshore", "none", None]
NOTES = ["", "crowded", "glassy; early", "with Ann", 'a "good" one', "late, alone", "two\nlines", "3/2 not enough", "# 4"]
FORMS = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M:%S"]


def height(rng, point):
    size = f"{rng.randrange(4, 30) / 10:.1f}".replace(".", point)
    return rng.choice([size + " m", f"{rng.randrange(2, 6)}-{rng.randrange(6, 9)} ft", "flat", "waist high", "1 m"])


def table(rng):
    d = Dialect(delimiter=rng.choice([",", ",", ";", ";", "\t", "|", "~", "^", "||"]), quote=rng.choice(['"', '"', '"', "'"]))
    d.escape = rng.choice([None, None, "\\"])
    d.doubles, d.quoting = d.escape is None, rng.choice([0, 0, 0.1, 1])
    d.line_ends = (rng.choice(["\n", "\r\n", "\r"]),)
    d.comment = rng.choice([None, None, None, None, "#"])
    d.skips_space = rng.random() < 0.1
    codec, has_mark = rng.choice(ENCODINGS)
    writer = PythonWriter(d, rng) if PythonWriter.knows(d) and rng.random() < 0.7 else Writer(d, rng, spaces=(1,))
    labels, form, point = rng.choice(LABELS), rng.choice(FORMS), rng.choice([".", ","])
    has_clock = form in FORMS[:4] and rng.random() < 0.25
    # Some programs leave out empty fields at the end, others add some.
    ends = rng.choice(["as they are"] * 8 + ["trimmed", "surplus"])
    missing = rng.choice(["", "", "-", "n/a", "–", "\\N" if d.escape is None else "k. A."])
    order = rng.sample(range(7), 7)
    order = [0] + [column for column in order if column != 0] if rng.random() < 0.8 else order
    is_text = [column in (1, 3, 4, 6) for column in order]

    content, end = "", writer.end()
    if rng.random() < 0.15 and len(d.delimiter) == 1 and not d.comment:
        content += f"sep={d.delimiter}{end}"
    else:
        content += "".join(f"My log {line}{end}" for line in range(rng.choice([0, 0, 0, 1, 3])))
    header = [labels[column] for column in order]
    content += writer.record((["Time"] if has_clock else []) + header)
    day, entries = datetime.datetime(2013, 1, 1), []
    for _ in range(rng.choice([3, 15, 40, 90])):
        day += datetime.timedelta(days=rng.randrange(1, 7))
        clock = datetime.timedelta(hours=rng.randrange(5, 20), minutes=rng.choice([0, 15, 30]))
        if has_clock and rng.random() < 0.1:
            clock = datetime.timedelta()
        moment = day + clock if has_clock or "%H" in form else day
        rating, period = (rng.choice([None, str(number)]) if rng.random() < 0.3 else str(number)
                          for number in (rng.randrange(1, 6), rng.randrange(6, 18)))
        note = rng.choice(NOTES) or None
        entry = [moment, height(rng, point), period, rng.choice(WINDS), rng.choice(SPOTS), rating]
        fields = [moment.strftime(form), entry[1], period or missing or None, entry[3], entry[4], rating or missing or None, note]
        fields = [fields[column] for column in order]
        if has_clock:
            at_noon = clock == datetime.timedelta() and missing
            fields.insert(0, missing if at_noon else moment.strftime("%H:%M"))
        while ends == "trimmed" and not fields[-1]:
            fields.pop()
        if ends == "surplus" and rng.random() < 0.2 and not d.quoting:
            fields += [None, None]
        if rng.random() < 0.05 and d.comment:
            content += "# a remark" + end
        content += writer.record(fields, ([True] if has_clock else []) + is_text + [True, True])
        seconds = (moment - datetime.datetime(2001, 1, 1)).total_seconds()
        entries.append([seconds, *entry[1:5], int(rating) if rating else None])
        if rng.random() < 0.03:
            content += d.delimiter * (len(fields) - 1) + end
    if rng.random() < 0.2:
        content += f"Total: {len(entries)} sessions{end}"
    if not is_encodable(content, codec):
        return None
    what = f"{codec} {d} {type(writer).__name__} {form} missing {missing!r} clock {has_clock} ends {ends} {header}"
    return encoded(content, codec, has_mark), entries, 0, [], what
