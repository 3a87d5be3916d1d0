@testable import CSV
import Foundation
import TestSupport
import Testing

// Rules: text in any encoding reads as the same text in UTF-8; all positions and hashes are those of the bytes of the
// file; bytes that are not a character of the encoding make their record invalid. Python's codecs are the reference.

@Suite("A text reads the same in every encoding, and positions are those of its own bytes", .seeded)
struct EncodingTests {
  /// What Python makes of a table in an encoding.
  struct Encoded: Codable {
    var encoding: String
    var bytes: [UInt8]
    /// For each record the offsets of its fields.
    var offsets: [[Int]]
  }

  private struct Order: Codable {
    var records: [[String]]
    /// Python's name, ours, and the text with characters that the encoding has.
    var encodings: [String]
    var lineEnd: String
  }

  /// Python's name of an encoding, ours, and characters that it has.
  struct Known: Sendable {
    let python: String
    let name: String?
    let letters: [String]

    init(_ python: String, _ name: String?, letters: [String]) {
      (self.python, self.name, self.letters) = (python, name, letters)
    }
  }

  private static let western = ["é", "ü", "ß", "ñ"]
  private static let all = western + ["鵠", "沼", "🏄", "\u{85}", "ʻ", "\u{FEFF}"]
  static let known = [
    Known("utf-8", nil, letters: all), Known("utf-8-sig", nil, letters: all), Known("utf-8", "UTF8", letters: all),
    Known("utf-8-sig", "latin1", letters: all), Known("utf-16", nil, letters: all),
    Known("utf-16", "utf-16", letters: all),
    Known("utf-16-le", "utf-16le", letters: all), Known("utf-16-be", "UTF-16BE", letters: all),
    Known("utf-32", nil, letters: all),
    Known("utf-32-le", "utf-32le", letters: all), Known("utf-32-be", "UTF_32BE", letters: all),
    Known("latin-1", "latin1", letters: western + ["\u{85}", "ÿ"]),
    Known("cp1252", "Windows-1252", letters: western + ["€", "Ÿ", "“"]),
    Known("koi8-r", "KOI8-R", letters: ["п", "р", "и"]), Known("cp437", "CP437", letters: western),
    Known("mac-roman", "macroman", letters: western + ["Ω"]),
    Known("shift_jis", "shift_jis", letters: ["鵠", "沼", "ソ", "表", "ｱ"]),
    Known("euc-jp", "EUC-JP", letters: ["鵠", "沼"]), Known("gb18030", "gb18030", letters: all.filter { $0 != "\u{85}" }),
    Known("big5", "big5", letters: ["沼", "功"]), Known("iso2022_jp", "ISO-2022-JP", letters: ["沼", "表"]),
    Known("cp037", "IBM037", letters: ["é", "ü"]), Known("utf-7", "utf-7", letters: ["é", "沼"]),
  ]

  private static func records(_ letters: [String], _ random: inout SeededGenerator) -> [[String]] {
    let parts = letters + letters + ["a", "b c", "0", ""]
    return (0..<12).map { _ in
      (0..<3).map { _ in
        "x"
          + (0..<Int.random(in: 0...5, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      }
    }
  }

  private static let script = """
    import sys,json
    answers=[]
    for order in json.loads(sys.stdin.buffer.read()):
      e=order['encodings'][0]; text=''; offsets=[]
      for record in order['records']:
        row=[]
        for index, field in enumerate(record):
          row.append(len(text.encode(e))); text+=field+(',' if index+1<len(record) else order['lineEnd'])
        offsets.append(row)
      answers.append({'encoding': e, 'bytes': list(text.encode(e)), 'offsets': offsets})
    sys.stdout.buffer.write(json.dumps(answers).encode())
    """

  private static func encode(_ orders: [(Known, [[String]])], lineEnd: String) throws -> [Encoded] {
    let orders = orders.map { Order(records: $0.1, encodings: [$0.0.python], lineEnd: lineEnd) }
    let answer = try python(script, input: Array(try JSONEncoder().encode(orders)))
    return try JSONDecoder().decode([Encoded].self, from: Data(answer))
  }

  private func dialect(_ known: Known) throws -> CSVDialect {
    var dialect = CSVDialect(hasHeader: false)
    dialect.encoding = try known.name.map { try #require(CSVEncoding(named: $0), "\($0)") }
    return dialect
  }

  @Test("As Python encodes it, in pieces of any size", arguments: Randomness.seeds(2, long: 100))
  func agreesWithPython(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let orders = Self.known.map { ($0, Self.records($0.letters, &random)) }
    let lineEnd = ["\n", "\r\n", "\r"][Int(seed % 3)]
    for ((known, records), encoded) in zip(orders, try Self.encode(orders, lineEnd: lineEnd)) {
      let dialect = try dialect(known)
      for size in [1, 7, 100, 1 << 16] {
        let reader = try CSVReader(
          ByteSource(bytes: encoded.bytes), dialect: dialect, limits: CSVLimits(), readBytes: size,
          usesFastScanner: size > 7)
        let hash = ContentHash()
        reader.contentHash = hash
        var (block, values, offsets) = (RecordBlock(), [[String]](), [[Int]]())
        while try reader.next(into: &block, recordsMax: 5) {
          for record in block.records {
            let fields = block.fields(of: record)
            values.append(fields.map { block.string(of: $0) })
            offsets.append(fields.map { block.byteOffset(of: $0, in: record) })
            #expect(record.problems.isEmpty)
          }
          let prefix = ContentHash()
          prefix.update(encoded.bytes.prefix(block.end.byteOffset))
          #expect(hash.digest == prefix.digest)
          try resume(at: block.end, encoded.bytes, dialect, records: records[values.count...])
        }
        #expect(values == records, "seed \(seed), \(known.python), pieces of \(size)")
        // Python returns to ASCII at the end of every text, and UTF-7 spells characters together.
        if known.python != "iso2022_jp", known.python != "utf-7" {
          #expect(offsets == encoded.offsets, "seed \(seed), \(known.python), pieces of \(size)")
        } else {
          #expect(offsets.map(\.first) == encoded.offsets.map(\.first))
        }
        #expect(reader.position.byteOffset == encoded.bytes.count && hash.byteCount == encoded.bytes.count)
      }
    }
  }

  private func resume(
    at position: ReaderPosition, _ bytes: [UInt8], _ dialect: CSVDialect, records: ArraySlice<[String]>
  ) throws {
    for readsHeader in [false, true] {
      let reader = try CSVReader(
        ByteSource(bytes: bytes), dialect: dialect, limits: CSVLimits(), readBytes: 32, usesFastScanner: true)
      // Some of the text is then converted already.
      if readsHeader { _ = try reader.readHeader() }
      try reader.skip(to: position)
      #expect(try readAll(reader).map(\.values) == Array(records))
      #expect(reader.position.byteOffset == bytes.count)
    }
  }

  @Test("Bytes that are not a character of the encoding make their record invalid, at their own position")
  func invalid() throws {
    let cases: [(encoding: CSVEncoding, bytes: [UInt8], position: Int)] = [
      (.windows1252, Array("é,b\n".unicodeScalars.map { UInt8($0.value) }) + [0x61, 0x81, 0x0A, 0x62, 0x0A], 5),
      (.utf16LE, [0x61, 0, 0x0A, 0, 0xE9, 0, 0x00, 0xD8, 0x0A, 0, 0x62, 0, 0x0A, 0], 6),
      (.utf16BE, [0, 0x61, 0, 0x0A, 0, 0x63, 0xDC, 0x00, 0, 0x0A, 0, 0x62, 0, 0x0A], 6),
      (.utf16LE, [0x61, 0, 0x0A, 0, 0x62, 0, 0x62], 6),
      (.utf32LE, [0x61, 0, 0, 0, 0x0A, 0, 0, 0, 0, 0, 0x11, 0, 0x0A, 0, 0, 0, 0x62, 0, 0, 0], 8),
      (try #require(CSVEncoding(named: "shift_jis")), [0x61, 0x0A, 0x62, 0x8A, 0xFF, 0x0A, 0x62], 3),
      (try #require(CSVEncoding(named: "us-ascii")), [0x61, 0x0A, 0x62, 0xE9, 0x0A, 0x62], 3),
      (try #require(CSVEncoding(named: "gb18030")), [0x61, 0x0A, 0x62, 0x81, 0x30], 3),
    ]
    for (encoding, bytes, position) in cases {
      var dialect = CSVDialect(hasHeader: false)
      dialect.encoding = encoding
      for size in [1, 100] {
        let reader = try CSVReader(
          ByteSource(bytes: bytes), dialect: dialect, limits: CSVLimits(), readBytes: size, usesFastScanner: true)
        var block = RecordBlock()
        #expect(try reader.next(into: &block, recordsMax: 100))
        #expect(block.records[0].problems.isEmpty, "\(encoding)")
        #expect(block.records[1].problems == .invalidUTF8, "\(encoding)")
        #expect(block.byteOffsetOfInvalidUTF8(in: block.records[1]) == position, "\(encoding)")
        #expect(block.records.dropFirst(2).allSatisfy { $0.problems.isEmpty })
        _ = try reader.next(into: &block, recordsMax: 100)
        #expect(reader.position.byteOffset == bytes.count, "\(encoding)")
      }
    }
  }

  @Test(
    "After half a character at a line end, records have their own positions, and reading goes on there",
    arguments: [
      ("gb18030", [0x61, 0x0A, 0x62, 0x8C, 0x38, 0x0A, 0x63, 0x0A, 0x64, 0x0A] as [UInt8], [0, 2, 6, 8]),
      ("euc-jp", [0x61, 0x0A, 0x62, 0x8F, 0x0A, 0x63, 0x0A, 0x64, 0x0A], [0, 2, 5, 7]),
      // An escape that is none of the encoding's: what looks like its beginning is a character.
      ("iso-2022-jp", [0x61, 0x1B, 0x0A, 0x62, 0xE7, 0x0A, 0x63, 0x0A, 0x64, 0x0A], [0, 3, 6, 8]),
    ])
  func halfCharacter(name: String, bytes: [UInt8], offsets: [Int]) throws {
    var dialect = CSVDialect(hasHeader: false)
    dialect.encoding = CSVEncoding(named: name)
    for size in [1, 100] {
      let reader = try CSVReader(
        ByteSource(bytes: bytes), dialect: dialect, limits: CSVLimits(), readBytes: size, usesFastScanner: true)
      #expect(try readAll(reader).map(\.byte) == offsets, "pieces of \(size)")
    }
    let start = ReaderPosition(record: 3, line: 3, byteOffset: offsets[2])
    let resumed = try CSVReader(ByteSource(bytes: bytes), dialect: dialect, startingAt: start)
    #expect(try readAll(resumed).map(\.values) == [["c"], ["d"]])
  }

  @Test("UTF-16 and UTF-32 that nothing declares are refused, with the name to declare")
  func undeclared() throws {
    for (encoding, name) in [
      (String.Encoding.utf16LittleEndian, "utf-16le"), (.utf16BigEndian, "utf-16be"),
      (.utf32LittleEndian, "utf-32le"), (.utf32BigEndian, "utf-32be"),
    ] {
      let bytes = Array(try #require("date,place\n2014,Rincon\n".data(using: encoding)))
      for declared in [nil, CSVEncoding.utf8, name.hasPrefix("utf-16") ? .utf16 : .utf32] {
        var dialect = CSVDialect()
        dialect.encoding = declared
        let reader = try CSVReader(ByteSource(bytes: bytes), dialect: dialect)
        var block = RecordBlock()
        let error = #expect(throws: CSVError.self) { try reader.next(into: &block, recordsMax: 1) }
        #expect(error?.code == .encoding && error?.message.contains(name) == true)
        #expect(throws: CSVError.self) { try reader.next(into: &block, recordsMax: 1) }
      }
      var dialect = CSVDialect()
      dialect.encoding = CSVEncoding(named: name)
      let reader = try CSVReader(ByteSource(bytes: bytes), dialect: dialect)
      #expect(try reader.readHeader()?.names == ["date", "place"])
      #expect(reader.encoding == dialect.encoding && !reader.hasByteOrderMark)
    }
  }

  @Test("Names are those of iconv, in any case; others are unknown")
  func names() {
    #expect(CSVEncoding(named: "UTF8") == .utf8 && CSVEncoding(named: "ISO-8859-1") == .latin1)
    #expect(CSVEncoding(named: "CP1252") == .windows1252 && CSVEncoding(named: "utf_16_le") == .utf16LE)
    #expect(CSVEncoding(named: "Shift_JIS") == CSVEncoding(named: "SHIFT_JIS"))
    for name in ["", "utf-9", "UTF-8//TRANSLIT", "latin1//IGNORE", " ", "é"] {
      #expect(CSVEncoding(named: name) == nil, "\(name)")
    }
  }

  @Test("What a dialect of another encoding writes is read back in it")
  func writing() throws {
    var dialect = CSVDialect(hasHeader: false)
    dialect.encoding = .windows1252
    let records = [["Kauaʻi", "鵠沼"], ["\u{FEFF}a", "b"]]
    #expect(try readAll(try written(records, dialect: dialect), dialect: dialect).map(\.values) == records)
  }
}
