@testable import CSV
import Foundation
import TestSupport
import Testing

// Rules: what is written in a dialect is read back in it, or refused when it is written. Python's csv is the other
// writer and reader, for what it knows: delimiters, quotes and escapes of one character.

@Suite("A table in any dialect is read back", .seeded)
struct DialectRoundTripTests {
  @Test("Random tables in random dialects", arguments: Randomness.seeds(150, long: 10_000))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let dialect = RandomDialect.make(using: &random)
    let sink = try ByteSink.memory()
    var writer = try CSVWriter(sink, dialect: dialect)
    var expected: [[String]] = []
    for record in RandomDialect.records(for: dialect, using: &random) {
      do throws(CSVError) {
        try writer.write(record)
        expected.append(record)
      } catch {
        #expect(error.code == .unquotableValue && (dialect.quote == nil || !dialect.doublesQuotes))
      }
    }
    try writer.flush()
    try sink.commit()
    let found = try readAll(sink.bytes, dialect: dialect)
    #expect(found.map(\.values) == expected, "seed \(seed), \(dialect)")
    #expect(found.allSatisfy { $0.problems.isEmpty })
  }

  /// A dialect as Python's csv names it.
  struct PythonDialect: Codable, Sendable {
    var delimiter = ","
    var quotechar: String? = "\""
    var doublequote = true
    var escapechar: String?
    var skipinitialspace = false
    var lineterminator = "\r\n"
    var quoting = 0

    var csv: CSVDialect {
      var dialect = CSVDialect(hasHeader: false)
      dialect.delimiter = Array(delimiter.utf8)
      dialect.quote = quoting == 3 ? nil : quotechar?.utf8.first
      dialect.doublesQuotes = doublequote
      dialect.escape = escapechar?.utf8.first
      dialect.skipsInitialSpace = skipinitialspace
      // Python leaves other line ends unquoted.
      dialect.lineTerminator = Array(lineterminator.utf8)
      return dialect
    }

    static func random(using random: inout SeededGenerator) -> PythonDialect {
      var dialect = PythonDialect()
      dialect.delimiter = [",", ";", "\t", "|", "§"].randomElement(using: &random) ?? ","
      dialect.quotechar = ["\"", "'"].randomElement(using: &random)
      dialect.doublequote = Bool.random(using: &random)
      // Minimal, all, none. Python reads unquoted fields as numbers with the fourth, 2.
      dialect.quoting = [0, 1, 3].randomElement(using: &random) ?? 0
      if !dialect.doublequote || dialect.quoting == 3 || Bool.random(using: &random) { dialect.escapechar = "\\" }
      dialect.skipinitialspace = Bool.random(using: &random)
      dialect.lineterminator = ["\n", "\r\n", "\r"].randomElement(using: &random) ?? "\n"
      return dialect
    }
  }

  struct Exchange: Codable {
    var dialect: PythonDialect
    var records: [[String]]
    /// What we wrote, and what Python did.
    var text: String
  }

  @Test("Python's csv reads what is written, and what it writes is read", arguments: Randomness.seeds(2, long: 50))
  func pythonAgrees(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let exchanges = try (0..<40).map { _ in
      let dialect = PythonDialect.random(using: &random)
      let specials = [
        dialect.delimiter, dialect.quotechar ?? "", dialect.escapechar ?? "", "\n", "a", "b c", "é", " x",
      ]
      let records = (0..<8).map { _ in
        (0..<3).map { _ in
          (0..<Int.random(in: 0...4, using: &random)).map { _ in specials.randomElement(using: &random) ?? "" }.joined()
        }
      }
      // Python does not write an initial space in a way that its own reader keeps.
      .filter { record in !dialect.skipinitialspace || !record.contains { $0.hasPrefix(" ") } }
      let bytes = try written(records, dialect: dialect.csv)
      return Exchange(dialect: dialect, records: records, text: String(decoding: bytes, as: UTF8.self))
    }
    let script = """
      import sys,csv,io,json
      answers=[]
      for item in json.loads(sys.stdin.buffer.read()):
        item['dialect'].setdefault('escapechar', None)
        out=io.StringIO(newline=''); csv.writer(out, **item['dialect']).writerows(item['records'])
        rows=list(csv.reader(io.StringIO(item['text'], newline=''), **item['dialect']))
        answers.append({'dialect': item['dialect'], 'records': rows, 'text': out.getvalue()})
      sys.stdout.buffer.write(json.dumps(answers).encode())
      """
    let answer = try python(script, input: Array(try JSONEncoder().encode(exchanges)))
    for (exchange, other) in zip(exchanges, try JSONDecoder().decode([Exchange].self, from: Data(answer))) {
      #expect(other.records == exchange.records, "seed \(seed), \(exchange.dialect), \(exchange.text)")
      let read = try readAll(Array(other.text.utf8), dialect: exchange.dialect.csv)
      #expect(read.map(\.values) == exchange.records, "seed \(seed), \(exchange.dialect), \(other.text)")
    }
  }
}
