import Foundation
import TestSupport
import Testing

@testable import TableGuessing

/// Tables that Python's csv and codecs write in random dialects: a guess reads the same fields, or it is refused.
@Suite struct PythonDialectTests {
  /// Prints one JSON object a line: the file's bytes in hexadecimal, and the fields of its records.
  private static let script = """
    import csv, io, json, random, sys
    rng = random.Random(int(sys.argv[1]))
    spots = ["Rincon", "Hossegor, La Gravière", "Mundaka", "C Street; Ventura", "María's", 'the "Box"', "Bells Beach"]
    words = ["crowded", "", "glassy; early", "with Ann", 'a "good" one', "late, alone", "two\\nlines", "kalt", "bleu"]
    for number in range(int(sys.argv[2])):
        order = rng.choice(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y"])
        rows = []
        for row in range(rng.choice([12, 30, 80])):
            import datetime
            day = datetime.date(2013, 1, 1) + datetime.timedelta(days=row * 5 + rng.randrange(5))
            size = rng.choice(["1.5 m", "3-5 ft", "2 m", "flat"])
            rows.append([day.strftime(order), rng.choice(spots), size, str(rng.randrange(6, 18)), str(rng.randrange(1, 6)),
                         rng.choice(words)])
        header = ["Date", "Spot", "Height", "Period", "Rating", "Notes"]
        delimiter = rng.choice([",", ";", "\\t", "|", "~", "^"])
        escapes = rng.random() < 0.3
        quote = rng.choice(['"', '"', '"', "'"])
        options = dict(delimiter=delimiter, quotechar=quote, lineterminator=rng.choice(["\\n", "\\r\\n", "\\r"]),
                       quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
                       doublequote=not escapes, escapechar="\\\\" if escapes else None)
        text = io.StringIO(newline="")
        csv.writer(text, **options).writerows([header] + rows)
        content = text.getvalue()
        above = rng.choice([0, 0, 0, 1, 3])
        end = options["lineterminator"]
        content = "".join("My log %d%s" % (i, end) for i in range(above)) + content
        if rng.random() < 0.2:
            content += "Total: %d sessions%s" % (len(rows), end)
        encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1"])
        data = content.encode(encoding, errors="replace")
        rows = [[cell.encode(encoding, errors="replace").decode(encoding, errors="replace").lstrip("\\ufeff") for cell in row]
                for row in rows]
        print(json.dumps(dict(hex=data.hex(), rows=rows, what="%s %r above %d" % (encoding, options, above))))
    """

  private struct File: Decodable {
    let hex: String
    let rows: [[String]]
    let what: String
  }

  @Test(.seeded) func `What Python writes in any dialect is guessed, or refused`() throws {
    let count = TestLength.rounds(40, long: 1000)
    let seed = String(Randomness.seed)
    let folder = try TemporaryFolder()
    let lines = try Programs.python(Self.script, seed, String(count), in: folder).split(separator: "\n")
    #expect(lines.count == count)
    var refused: [String] = []
    for line in lines {
      let file = try JSONDecoder().decode(File.self, from: Data(line.utf8))
      let bytes = Self.bytes(file.hex)
      let guess = guessed(bytes)
      if guess.isRefused {
        refused.append("\(file.what): \(guess.undecided(below: confidenceMin).map(\.evidence))")
        continue
      }
      #expect(Self.rows(bytes, guess) == file.rows, "\(file.what)")
    }
    // Refusing everything would be right, and useless.
    #expect(refused.count * 10 <= count, "\(refused.joined(separator: "\n"))")
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).map { index in
      UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16) ?? 0
    }
  }

  /// The fields of the table, read as the guess says.
  private static func rows(_ bytes: [UInt8], _ guess: TableGuess) -> [[String]] {
    var dialect = CandidateDialect(
      delimiter: Array(guess.delimiter.value.utf8), quote: guess.quote.value.flatMap { $0.utf8.first })
    if case .escaped(let byte) = guess.escape.value { dialect.escape = byte }
    if let end = guess.end.value { dialect.end = .only(Array(end.utf8)) }
    let records = RecordSplitter.records(of: guess.encoding.value.utf8(bytes), dialect)
    let body = records.filter { !$0.isBlank }
      .filter { $0.line > (guess.layout.headerLines?.upperBound ?? guess.layout.skipRows.value) }
    let fields = body.map { $0.cells.map { $0.bytes.text } }
    switch guess.layout.footer.value {
    case .none: return fields
    case .stopAt(let text): return Array(fields.prefix { !$0[0].hasPrefix(text) })
    case .last(let count): return fields.dropLast(count)
    }
  }
}
