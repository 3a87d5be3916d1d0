import Foundation
import TestSupport
import Testing

/// Files that zstd, xz, bzip2, zip and pzstd compressed go in as the plain file does, and damaged ones are refused with
/// the byte; what was saved before stays, and the whole file continues it.
@Suite(.seeded) struct CompressedImportTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try Logs.write(records: 12_000, to: "log.csv", in: folder)
  }

  /// A compressing program.
  struct Program: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes `packed` of `log.csv`.
    let command: String
    var word = ""
  }

  static let streams = [
    Program(testDescription: "zstd", command: "zstd -qc log.csv > packed", word: "Zstandard"),
    Program(testDescription: "pzstd", command: "pzstd -qc log.csv > packed", word: "Zstandard"),
    Program(testDescription: "xz", command: "xz -c log.csv > packed", word: "xz"),
    Program(testDescription: "bzip2", command: "bzip2 -1 -c log.csv > packed", word: "bzip2"),
  ]
  static let archives = [
    Program(testDescription: "zip", command: "zip -q packed.zip log.csv && mv packed.zip packed", word: "zip"),
    Program(
      testDescription: "zipfile",
      command: "python3 -c 'import zipfile; zipfile.ZipFile(\"packed\", \"w\", 8).write(\"log.csv\", \"a/log.csv\")'",
      word: "zip"),
  ]
  private static let rows =
    "SELECT ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK"

  private func pack(_ program: Program) throws {
    let output = try Tool.shell(program.command, in: folder)
    try #require(output.status == 0, "\(output.messages)")
  }

  private func rows(_ store: String) throws -> String { try Programs.sqlite(store, Self.rows, in: folder) }

  @Test(arguments: streams + archives)
  func `The store is that of the plain file, which is then known`(_ program: Program) throws {
    try pack(program)
    let output = try Tool.shell(
      """
      "$surfjournal" import log.csv --store plain -q && "$surfjournal" import packed --store s -q \
        && "$surfjournal" import - --store piped -q < packed && cat packed | "$surfjournal" import - --store read -q \
        && "$surfjournal" import log.csv --store s --json
      """, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try output.json().counts.inserted == 0)
    // Its own size is shown, not that of the packed file.
    let report = try JSONSerialization.jsonObject(with: output.bytes) as? [String: Any]
    let input = try #require((report?["inputs"] as? [[String: Any]])?.first)
    #expect(try input["bytes"] as? Int == folder.data("log.csv").count)
    let plain = try rows("plain")
    for store in ["s", "piped", "read"] { #expect(try rows(store) == plain) }
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "12000\n")
  }

  @Test(arguments: streams + archives)
  func `Cut off anywhere, it fails with the byte, and the whole file continues what was saved`(
    _ program: Program
  ) throws {
    try pack(program)
    let whole = try folder.data("packed")
    var random = Randomness.generator()
    let lengths =
      [5, 12, whole.count - 1]
      + (0..<TestLength.rounds(3, long: 40)).map { _ in
        Int.random(in: 13..<whole.count, using: &random)
      }
    for length in lengths {
      try? FileManager.default.removeItem(at: folder.file("s"))
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(at: folder.file("s" + suffix)) }
      try whole.prefix(length).write(to: folder.file("cut"))
      let cut = try Tool.run("import", "cut", "--store", "s", "--json", "--chunk-rows", "100", in: folder)
      #expect(cut.status == 65, "cut at \(length)")
      #expect(cut.messages.contains("byte \(length) of the compressed file: the \(program.word)"), "\(cut.messages)")
      let saved = try cut.json().counts.inserted
      let output = try Tool.run("import", "packed", "--store", "s", "--json", in: folder)
      #expect(output.status == 0, "cut at \(length): \(output.messages)")
      let continues = saved == 0 ? "imported" : "resumed"
      #expect(output.text.contains("\"state\" : \"\(continues)\""), "\(output.text)")
      let stored = "SELECT count(*), count(DISTINCT ZLOCATION), max(Z_PK) FROM ZJOURNALENTRY"
      #expect(try Programs.sqlite("s", stored, in: folder) == "12000|12000|12000\n", "cut at \(length)")
    }
  }

  @Test func `A workbook, an encrypted archive and one of several files are refused by name`() throws {
    try Programs.python(
      """
      import zipfile
      book = zipfile.ZipFile('book.xlsx', 'w')
      for name in ['docProps/app.xml', '[Content_Types].xml', 'xl/worksheets/sheet1.xml']: book.writestr(name, 'x')
      """, in: folder)
    let made = try Tool.shell(
      "cp log.csv second.csv; zip -q two.zip log.csv second.csv; zip -q -P secret locked.zip log.csv", in: folder)
    #expect(made.status == 0, "\(made.messages)")
    for (name, words) in [
      ("book.xlsx", "is an Excel workbook (.xlsx)"), ("locked.zip", "is an encrypted zip archive"),
      ("two.zip", "is a zip archive of several files (log.csv, second.csv); unpack it"),
    ] {
      let output = try Tool.run("import", name, "--store", "s", "--json", in: folder)
      #expect(output.status == 65)
      #expect(try output.json().issues.counts == ["format-error": 1])
      #expect(output.messages.contains(words), "\(output.messages)")
      #expect(!folder.exists("s"))
    }
  }

  @Test(arguments: ["import", "validate"])
  func `69: libarchive is not installed; plain and gzip files go in without it`(_ command: String) throws {
    let made = try Tool.shell(
      "xz -k log.csv; gzip -k log.csv; mkdir broken; : > broken/libarchive.so.13", in: folder)
    #expect(made.status == 0, "\(made.messages)")
    let environment = ["LD_LIBRARY_PATH": folder.path("broken")]
    let output = try Tool.run(command, "log.csv.xz", "--store", "s", in: folder, environment: environment)
    #expect(output.status == 69)
    #expect(output.messages.contains("install the package libarchive13, or decompress the file first"))
    #expect(!folder.exists("s"))
    for name in ["log.csv", "log.csv.gz"] {
      #expect(try Tool.run(command, name, "--store", name + ".s", in: folder, environment: environment).status == 0)
    }
  }

  @Test(arguments: streams + archives)
  func `Its form is guessed`(_ program: Program) throws {
    try pack(program)
    let output = try Tool.shell(
      """
      "$surfjournal" guess packed -o guessed.json -q && "$surfjournal" run guessed.json --store s -q \
        && "$surfjournal" guess - -q < packed > /dev/null
      """, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "12000\n")
  }

  @Test func `Of altered data it is said what is stored, and that the good file replaces it`() throws {
    let records = (1...9000).map { "2014-07-14,1,,,Place \($0),3\n" }.joined()
    try folder.write(Logs.header + records, to: "log.csv")
    try Programs.python(
      """
      import zipfile
      with zipfile.ZipFile("good.zip", "w", zipfile.ZIP_STORED) as archive: archive.write("log.csv")
      data = open("good.zip", "rb").read()
      open("bad.zip", "wb").write(data.replace(b"Place 77,", b"Qlace 77,"))
      """, in: folder)
    let bad = try Tool.run("import", "bad.zip", "--store", "s", in: folder)
    #expect(bad.status == 65)
    #expect(bad.messages.contains("of it are in the store; if the data were altered"), "\(bad.messages)")
    let good = try Tool.run("import", "good.zip", "--store", "s", "--replace", in: folder)
    #expect(good.status == 0, "\(good.messages)")
    #expect(
      try Programs.sqlite("s", "SELECT count(*), sum(ZLOCATION LIKE 'Q%') FROM ZJOURNALENTRY", in: folder) == "9000|0\n"
    )
  }
}
