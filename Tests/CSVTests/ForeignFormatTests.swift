@testable import CSV
import TestSupport
import Testing

// Rule: what is not text is refused by its name, with what to do. Python's modules make the samples.

@Suite("What is not text is refused by name")
struct ForeignFormatTests {
  private static let helpers = """
    import sys,io,zipfile,tarfile,gzip,bz2,lzma
    out=sys.stdout.buffer.write
    def archive(*names):
      file=io.BytesIO(); zip=zipfile.ZipFile(file, 'w')
      for name in names: zip.writestr(name, 'a,b')
      zip.close(); return file.getvalue()
    def tar():
      file=io.BytesIO(); entry=tarfile.TarInfo('log.csv'); entry.size=4
      tarfile.open(fileobj=file, mode='w').addfile(entry, io.BytesIO(b'a,b\\n')); return file.getvalue()

    """

  static let samples: [(script: String, word: String)] = [
    ("out(archive('[Content_Types].xml'))", "xlsx"), ("out(archive('xl/workbook.xml'))", "xlsx"),
    ("out(archive('custom/a.xml', '[Content_Types].xml'))", "xlsx"), ("out(archive('mimetype'))", ".ods"),
    ("out(archive('preview.jpg', 'Index/Document.iwa'))", "Numbers"),
    ("out(archive('a.csv', 'b.csv'))", "several files (a.csv, b.csv); unpack it"),
    ("out(archive('a', 'b', 'c\\n', 'd', 'e'))", "several files (a, b, c? and 2 more)"),
    ("out(archive())", "without a file"), ("out(archive('folder/', '__MACOSX/._a', '.DS_Store'))", "without a file"),
    ("out(tar())", "is a tar archive"), ("out(gzip.compress(tar()))", "is gzip data whose content is a tar archive"),
    ("out(lzma.compress(tar()))", "is xz data whose content is a tar archive"),
    ("out(gzip.compress(archive('[Content_Types].xml')))", "xlsx"),
    ("out(gzip.compress(gzip.compress(b'a,b\\n')))", "gzip data that holds gzip data once more"),
    ("out(bz2.compress(bz2.compress(b'a,b\\n')))", "bzip2 data that holds bzip2 data once more"),
    ("out(lzma.compress(archive('a.csv')))", "xz data that holds a zip archive once more"),
    ("out(b'PAR1\\x15\\x04\\x15')", "Parquet"), ("out(b'SQLite format 3\\0' + bytes(84))", "SQLite"),
    ("out(gzip.compress(b'SQLite format 3\\0' + bytes(84)))", "is gzip data whose content is a SQLite database"),
    ("out(bytes.fromhex('377abcaf271c') + bytes(90))", "7-Zip"), ("out(b'Rar!\\x1a\\x07\\x01\\0')", "RAR"),
    ("out(bytes.fromhex('d0cf11e0a1b11ae1') + bytes(90))", ".xls"),
  ]

  @Test("Archives, workbooks and databases, compressed or not", arguments: samples)
  func refused(script: String, word: String) throws {
    let bytes = try python(Self.helpers + script, input: [])
    let reader = try CSVReader(ByteSource(bytes: bytes))
    let error = #expect(throws: CSVError.self) { try reader.readHeader() }
    #expect(error?.code == .format && error?.message.contains(word) == true, "\(String(describing: error))")
  }

  @Test(
    "Text that begins alike is read",
    arguments: [
      "PAR1,b\n", "BZh9,b\n", "BZh9", "PK,b\n", "PK", "SQLite format 3,b\n", "7z\n", "Rar!\n", "P*M,b\n", "(,b\n",
    ])
  func text(text: String) throws {
    #expect(try readAll(Array(text.utf8)).count == 1)
  }
}
