@testable import CSV
import TestSupport
import Testing

// Rule: what is no text is refused by its name, with what to do. Python's modules make the samples.

@Suite("What is no text is refused by name")
struct ForeignFormatTests {
  static let samples: [(script: String, word: String)] = [
    ("import bz2; out(bz2.compress(b'a,b\\n'))", "bzip2"), ("import bz2; out(bz2.compress(b''))", "bzip2"),
    ("import lzma; out(lzma.compress(b'a,b\\n'))", "xz"), ("out(bytes.fromhex('28b52ffd0400210000612c620a'))", "zst"),
    ("out(archive('log.csv'))", "zip archive"), ("out(archive('[Content_Types].xml'))", "xlsx"),
    ("out(archive('xl/workbook.xml'))", "xlsx"), ("out(archive('mimetype'))", ".ods"),
    ("out(b'PAR1\\x15\\x04\\x15')", "Parquet"), ("out(b'SQLite format 3\\0' + bytes(84))", "SQLite"),
    ("out(bytes.fromhex('d0cf11e0a1b11ae1') + bytes(90))", ".xls"),
  ]

  @Test("Compressed files, archives, workbooks and databases", arguments: samples)
  func refused(script: String, word: String) throws {
    let head = """
      import sys,io,zipfile
      out=sys.stdout.buffer.write
      def archive(name):
        file=io.BytesIO(); zipfile.ZipFile(file, 'w').writestr(name, 'a,b'); return file.getvalue()

      """
    let bytes = try python(head + script, input: [])
    let reader = try CSVReader(ByteSource(bytes: bytes))
    let error = #expect(throws: CSVError.self) { try reader.readHeader() }
    #expect(error?.code == .format && error?.message.contains(word) == true)
  }

  @Test("Text that begins alike is read", arguments: ["PAR1,b\n", "BZh9,b\n", "PK,b\n", "SQLite format 3,b\n", "7z\n"])
  func text(text: String) throws {
    #expect(try readAll(Array(text.utf8)).count == 1)
  }
}
