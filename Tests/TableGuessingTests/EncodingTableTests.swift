import Testing

@testable import TableGuessing

@Suite struct EncodingTableTests {
  @Test(arguments: [TextEncoding.windows1252, .latin1, .macRoman, .codePage850])
  func `A single-byte encoding has a character for each upper byte`(_ encoding: TextEncoding) {
    #expect(encoding.upperHalf?.count == 128)
  }
}
