import CSV
import Foundation
import TestSupport
import Testing

@testable import TableGuessing

@Suite struct FileSampleTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static func limits() -> FileSample.Limits {
    var limits = FileSample.Limits()
    limits.headBytes = 4096
    limits.tailBytes = 1024
    limits.blockBytes = 512
    limits.blocks = 3
    limits.streamBytes = 1 << 20
    return limits
  }

  @Test func `A small file is read whole`() throws {
    let path = try folder.write("date\n2014-07-14\n", to: "a.csv")
    let sample = try FileSample(path: path)
    #expect(sample.isWhole)
    #expect(sample.totalBytes == 16)
  }

  @Test func `The beginning, the end and blocks between are read of a large file`() throws {
    let text = TableForm().text(SurfTable(rows: 2000), below: "Total,,,,,,3,,\r\n")
    let path = try folder.write(text, to: "a.csv")
    let sample = try FileSample(path: path, limits: Self.limits())
    #expect(!sample.isWhole)
    #expect(sample.hasEnd)
    #expect(sample.blocks.count == 3)
    #expect(sample.sampledBytes <= 4096 + 1024 + 3 * 512)
    #expect(Array(text.utf8).suffix(sample.tail.count) == sample.tail[...])
    let guess = TableGuesser(vocabulary: .journal).guess(sample)
    #expect(!guess.isRefused)
    #expect(guess.layout.footer.value == .stopAt("Total"))
    #expect(guess.sampled.contains("between"))
  }

  @Test func `A compressed file is inflated, and its end found`() throws {
    let text = TableForm().text(SurfTable(rows: 2000), below: "Total,,,,,,3,,\r\n")
    let path = folder.path("a.csv.gz")
    let plain = try folder.write(text, to: "a.csv")
    try Programs.python(
      "import gzip, sys; open(sys.argv[2], 'wb').write(gzip.compress(open(sys.argv[1], 'rb').read()))", plain, path,
      in: folder)
    let sample = try FileSample(path: path, limits: Self.limits())
    #expect(sample.isCompressed)
    #expect(sample.hasEnd)
    #expect(sample.head == Array(text.utf8.prefix(4096)))
    #expect(Array(text.utf8).suffix(sample.tail.count) == sample.tail[...])
    var short = Self.limits()
    short.streamBytes = 8192
    let beginning = try FileSample(path: path, limits: short)
    #expect(!beginning.hasEnd)
    #expect(TableGuesser(vocabulary: .journal).guess(beginning).sampled.contains("its end was not seen"))
  }

  @Test func `A missing file is an error`() {
    #expect(throws: CSVError.self) { try FileSample(path: folder.path("none.csv")) }
  }

  @Test(arguments: [1, 2, 3, 5])
  func `Samples of UTF-16 are not cut within a character`(_ rows: Int) throws {
    let text = TableForm().text(SurfTable(rows: 2000 + rows)).replacing("Rincon", with: "Côte 🌊")
    let bytes = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    try Data([0xFF, 0xFE] + bytes).write(to: folder.file("a.csv"))
    let guess = TableGuesser(vocabulary: .journal).guess(
      try FileSample(path: folder.path("a.csv"), limits: Self.limits()))
    #expect(!guess.isRefused)
    #expect(!guess.columns.contains { $0.profile.texts.keys.contains { $0.contains("\u{FFFD}") } })
  }
}
