import CSV
import Testing

@testable import TableGuessing

@Suite struct EncodingTableTests {
  @Test func `All encodings of older programs can be converted`() {
    #expect(CSVEncoding.singleByteCandidates.map(\.name) == ["windows-1252", "macintosh", "cp850"])
  }

  @Test(arguments: CSVEncoding.singleByteCandidates + [.latin1])
  func `A single-byte encoding has a character for each upper byte`(_ encoding: CSVEncoding) {
    #expect(encoding.upperHalf.count == 128)
  }
}
