import CSV
import Testing

@testable import TableGuessing

@Suite struct EncodingTests {
  private static let table = """
    Datum;Spot;Wellenhöhe;Wind
    14.07.2014;Côte des Basques;hüfthoch;schwach
    15.07.2014;Peniche;3–5 ft;windstill
    16.07.2014;María’s;1,5 m;ablandig, später auflandig
    28.07.2014;Ericeira;1 m;für Anfänger

    """

  /// The bytes of a text in an encoding, written without the decoder.
  private static func bytes(_ text: String, _ encoding: CSVEncoding) -> [UInt8] {
    switch encoding {
    case .utf8: return Array(text.utf8)
    case .utf16LE: return text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    case .utf16BE: return text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    case .utf32LE:
      return text.unicodeScalars.flatMap { scalar in (0..<4).map { UInt8(scalar.value >> (8 * $0) & 0xFF) } }
    case .utf32BE:
      return text.unicodeScalars.flatMap { scalar in (0..<4).reversed().map { UInt8(scalar.value >> (8 * $0) & 0xFF) } }
    default:
      let table = encoding.upperHalf
      return text.unicodeScalars.map { scalar in
        if scalar.isASCII { return UInt8(scalar.value) }
        return table.firstIndex(of: scalar).map { UInt8($0 + 0x80) } ?? UInt8(ascii: "-")
      }
    }
  }

  private static let marks: [CSVEncoding: [UInt8]] = [
    .utf8: [0xEF, 0xBB, 0xBF], .utf16LE: [0xFF, 0xFE], .utf16BE: [0xFE, 0xFF],
    .utf32LE: [0xFF, 0xFE, 0, 0], .utf32BE: [0, 0, 0xFE, 0xFF],
  ]

  @Test(arguments: [CSVEncoding.utf8, .utf16LE, .utf16BE, .utf32LE, .utf32BE] + CSVEncoding.singleByteCandidates)
  func `An encoding is guessed without a byte order mark`(_ encoding: CSVEncoding) {
    let guess = guessed(Self.bytes(Self.table, encoding))
    #expect(guess.encoding.value == encoding)
    #expect(guess.encoding.confidence >= confidenceMin)
    #expect(guess.layout.labels == ["Datum", "Spot", "Wellenhöhe", "Wind"])
    #expect(guess.entries.first?["height"] == "hüfthoch")
  }

  @Test(arguments: [
    CSVEncoding.utf8, .utf16LE, .utf16BE, .utf32LE, .utf32BE,
  ])
  func `A byte order mark decides`(_ encoding: CSVEncoding) {
    let guess = guessed((Self.marks[encoding] ?? []) + Self.bytes(Self.table, encoding))
    #expect(guess.encoding == Finding(encoding, confidence: 1, evidence: guess.encoding.evidence))
    #expect(guess.hasByteOrderMark)
    #expect(guess.layout.labels.first == "Datum")
  }

  @Test func `ASCII is read as UTF-8, whatever it was written as`() {
    let guess = guessed("date,spot\n2014-07-14,Rincon\n2014-07-15,Mundaka\n")
    #expect(guess.encoding.value == .utf8)
    #expect(!guess.isRefused)
  }

  @Test func `Another script is refused rather than read as Western text`() {
    // "Дата;Место" and dates in Windows-1251.
    let header: [UInt8] = [0xC4, 0xE0, 0xF2, 0xE0, 0x3B, 0xCC, 0xE5, 0xF1, 0xF2, 0xEE, 0x0A]
    let row = Array("14.07.2014;".utf8) + [0xCF, 0xEB, 0xFF, 0xE6, 0x0A]
    let guess = guessed(header + row + row + row)
    #expect(guess.encoding.confidence < confidenceMin)
    #expect(guess.encoding.choices.contains("windows-1251"))
  }

  @Test func `A file that mixes encodings is refused`() {
    let bytes = Self.bytes(Self.table, .utf8) + Self.bytes(Self.table, .windows1252)
    #expect(guessed(bytes).encoding.confidence < confidenceMin)
  }

  @Test func `A file of another format is refused by name`() throws {
    let workbook = "[Content_Types].xml"
    let zip: [UInt8] = [0x50, 0x4B, 3, 4] + Array(repeating: 0, count: 22) + [UInt8(workbook.utf8.count), 0, 0, 0]
    let files: [([UInt8], String)] = [
      (zip + Array(workbook.utf8), "workbook"), (Array("SQLite format 3\0".utf8), "SQLite"),
      (Array("PAR1\u{15}....".utf8), "Parquet"), (Array("Rar!\u{1A}\u{7}".utf8), "RAR"),
    ]
    for (bytes, name) in files {
      let error = #expect(throws: CSVError.self) { try FileSample(ByteSource(bytes: bytes)) }
      #expect(error?.code == .format && error?.message.contains(name) == true, "\(name)")
    }
    let guess = guessed(Array("[{\"date\": \"2014-07-14\"}]\n".utf8))
    #expect(guess.isRefused)
    #expect(guess.doubts.first?.shown.contains("JSON") ?? false)
  }
}
