import Foundation
import TestSupport
import Testing

/// What the program does with files as people have them: read right, or refused with the reason.
@Suite struct ReadingOptionTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func rows(_ store: String = "s") throws -> String {
    try Programs.output(
      of: [
        "sqlite3", store,
        "SELECT datetime(ZDATE + 978307200, 'unixepoch'), ZLOCATION, ZHEIGHT, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK",
      ], in: folder)
  }

  @Test func `A short date that could be in two months is refused by the built-in pipeline, and the advice works`()
    throws
  {
    try folder.write(Logs.header + "3/4/14,,,,Rincon,4\n", to: "log.csv")
    let refused = try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder)
    #expect(refused.status == 65)
    #expect(refused.messages.contains("--date-format M/d/yy or --date-format d/M/yy"))
    #expect(!folder.exists("s"))
    let european = try Tool.run("import", "log.csv", "--store", "s", "--date-format", "d/M/yy", in: folder)
    #expect(european.status == 0)
    #expect(try rows() == "2014-04-03 00:00:00|Rincon||4\n")
  }

  @Test func `The journal app's own dialect reads its short dates`() throws {
    try folder.write("3/4/14,3.9,12,1.9,C Street,4\n", to: "app.csv")
    #expect(try Tool.run("import", "app.csv", "--store", "s", "--pipeline", "journal-app", in: folder).status == 0)
    #expect(try rows() == "2014-03-04 00:00:00|C Street|3.9|4\n")
  }

  @Test func `A column that is lost or renamed is reported under --quiet`() throws {
    try folder.write("date,height,period,wind,location,ratign\n2014-07-14,,,,Rincon,4\n", to: "log.csv")
    let output = try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder)
    #expect(output.status == 0)
    #expect(output.text.isEmpty)
    #expect(output.messages.contains("the header has no 'rating', which stays empty"))
    #expect(output.messages.contains("is it 'ratign'?"))
    try folder.write(
      #"{"extends": "surf-log", "name": "p", "missingColumns": "ignore", "extraColumns": "ignore"}"#, to: "p.json")
    let silent = try Tool.run("import", "log.csv", "--store", "s", "--again", "--pipeline", "p.json", "-q", in: folder)
    #expect(silent.status == 0)
    #expect(silent.messages.isEmpty)
  }

  @Test func `A surplus label is refused where that is declared, and the advice works`() throws {
    try folder.write("date,location,board\n2014-07-14,Nazare,longboard\n", to: "board.csv")
    let words = ["import", "board.csv", "--store", "board.sqlite"]
    let refused = try Programs.run(Tool.url.path, words + ["--extra-columns", "error"], in: folder)
    #expect(refused.status == 65, "\(refused.messages)")
    let advice = #"let such fields be ignored with "extraColumns": "ignore" (--extra-columns ignore)"#
    #expect((refused.text + refused.messages).contains(advice), "\(refused.text)\(refused.messages)")
    let read = try Programs.run(Tool.url.path, words + ["--extra-columns", "ignore"], in: folder)
    #expect(read.status == 0 && !(read.text + read.messages).contains("extra-label"), "\(read.text)\(read.messages)")
  }

  @Test func `A header of which no column is known is refused`() throws {
    try folder.write(#"{"name": "p", "columns": ["location"]}"#, to: "p.json")
    try folder.write("Spot;Note\nRincon;4\n", to: "log.csv")
    let output = try Tool.run("import", "log.csv", "--store", "s", "--pipeline", "p.json", "-q", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("no label is one of the pipeline's columns"))
  }

  @Test func `A spreadsheet's form can be said by options, and the rejects remember it for the replay`() throws {
    try folder.write(
      "date;location;height;rating\n14.07.2014;Höhe;1,5 m;4\n15.07.2014;B;;9\n;;;\n", to: "log.csv")
    let output = try Tool.run(
      "import", "log.csv", "--store", "s", "--delimiter", ";", "--date-format", "d.M.yyyy", "--skip-blank-rows",
      "--missing-columns", "ignore", "-q", in: folder)
    #expect(output.status == 65)
    let rejects = "log.csv.rejects.csv"
    #expect(try folder.text(rejects) == "date;location;height;rating\n15.07.2014;B;;9\n")
    try folder.write("date;location;height;rating\n15.07.2014;B;;5\n", to: rejects)
    let replay = try Tool.run("replay", rejects, "-q", in: folder)
    #expect(replay.status == 0, "\(replay.messages)")
    #expect(replay.messages.isEmpty)
    #expect(try rows() == "2014-07-14 00:00:00|Höhe|1,5 m|4\n2014-07-15 00:00:00|B||5\n")
  }

  static let mistakes: [(arguments: [String], message: String)] = [
    (["--delimiter", ""], "expected one or several characters"), (["--quote", "\"\""], "expected one ASCII character"),
    (["--decimal", "1"], "expected one character"), (["--decimal", ",", "--group", ","], "also the decimal character"),
    (["--encoding", "utf-9"], "unknown encoding 'utf-9'"), (["--header-rows", "0"], "the columns must be named"),
    (["--time-zone", "Berlin"], "expected an IANA name"), (["--ragged-rows", "padd"], "did you mean 'pad'?"),
    (["--date-format", "d.Q.yyyy"], "has 'Q'"), (["--delimiter", ";", "--quote", ";"], "the same character"),
    (["--fields-match", "some"], "known are exact, equal, subset, superset"),
    (["--fields-match", "exact", "--extra-columns", "warn"], "--fields-match excludes --extra-columns"),
    (["--key", "spot"], "spot"), (["--skip-rows", "-1"], "expected a whole number"),
    (["--ragged-rows", "truncate", "--ragged-rows", "joinLast"], "can't be dropped and joined"),
  ]

  @Test(arguments: mistakes, ["import", "validate"])
  func `A value that an option can't have is reported with the option's name before anything is read`(
    mistake: (arguments: [String], message: String), command: String
  ) throws {
    try folder.write(Logs.two, to: "log.csv")
    let output = try Programs.run(
      Tool.url.path, [command, "log.csv", "--store", "s"] + mistake.arguments, in: folder)
    #expect(output.status == 64, "\(output.messages)")
    #expect(output.messages.contains(mistake.message), "\(output.messages)")
    #expect(!folder.exists("s"))
  }

  @Test func `Digits are not seconds unless they are declared as such`() throws {
    try folder.write("date,location\n20240101,Rincon\n", to: "log.csv")
    let output = try Tool.run("import", "log.csv", "--store", "s", "--entity", "JournalEntry", "-q", in: folder)
    #expect(output.status == 65)
    #expect(output.text.contains("write it as iso8601 (2014-07-14T07:30:00Z), or"))
    let declared = try Tool.run(
      "import", "log.csv", "--store", "t", "--entity", "JournalEntry", "--date-format", "yyyyMMdd", "-q", in: folder)
    #expect(declared.status == 0)
    #expect(try rows("t") == "2024-01-01 00:00:00|Rincon||0\n")
  }

  private func model(_ attributes: [String]) throws {
    try FileManager.default.createDirectory(
      atPath: folder.path("m.xcdatamodel"), withIntermediateDirectories: true)
    let lines = attributes.map { #"<attribute name="\#($0)" optional="YES" attributeType="String"/>"# }
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
      <entity name="E" representedClassName="E">
      \(lines.joined(separator: "\n"))
      </entity></model>
      """, to: "m.xcdatamodel/contents")
  }

  @Test func `An entity whose attributes differ in letter case only is exported and imported again`() throws {
    try model(["a", "A"])
    try folder.write("A,a\nlarge,small\n", to: "log.csv")
    let options = ["--entity", "E", "--model", "m.xcdatamodel"]
    func run(_ arguments: [String]) throws -> ProgramOutput {
      try Programs.run(Tool.url.path, arguments + options, in: folder)
    }
    #expect(try run(["import", "log.csv", "--store", "s", "-q"]).status == 0)
    #expect(try run(["export", "--store", "s", "-o", "out.csv", "-q"]).status == 0)
    #expect(try run(["import", "out.csv", "--store", "t", "-q"]).status == 0)
    #expect(try run(["export", "--store", "t"]).text == folder.text("out.csv"))
    #expect(try folder.text("out.csv").contains("large"))
  }

  static let models: [(attributes: [String], message: String)] = [
    (["a-b"], "'a-b' can't be the name of a property"),
    ((0..<1998).map { "a\($0)" }, "A store keeps at most 1997"),
  ]

  @Test(arguments: models)
  func `A model that no store can have is a mistake of the configuration, and leaves no store behind`(
    attributes: [String], message: String
  ) throws {
    try model(attributes)
    try folder.write("\(attributes[0])\nx\n", to: "log.csv")
    let output = try Tool.run(
      "import", "log.csv", "--store", "s", "--entity", "E", "--model", "m.xcdatamodel", in: folder)
    #expect(output.status == 78)
    #expect(output.messages.contains(message))
    #expect(!folder.exists("s"))
  }

  @Test func `Title, footer, encoding and notation of a German spreadsheet are declared in a pipeline`() throws {
    let text = """
      Mein Surftagebuch
      Stand: Oktober

      Datum;Uhrzeit;Spot;Wellenh\u{F6}he;Bewertung
      14.07.2014;07:30;S\u{FC}dstrand;1,5 m;4
      15.07.2014;;B;h\u{FC}fthoch;3
      ;;;;
      Summe: 2;;;;
      * gesch\u{E4}tzt

      """
    let bytes = text.replacing("\n", with: "\r\n").unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    try Data(bytes).write(to: folder.file("tagebuch.csv"))
    try folder.write(
      #"""
      {
        "name": "tagebuch",
        "dialect": {"encoding": "windows-1252", "delimiter": ";", "skipRows": 3, "skipBlankRows": true, "stopAt": "Summe"},
        "timeZone": "Europe/Berlin",
        "columns": [
          {"name": "date", "from": ["Datum", "Uhrzeit"], "formats": ["d.M.yyyy HH:mm", "d.M.yyyy"]},
          {"name": "Spot", "attribute": "location"},
          {"name": "Wellenhöhe", "attribute": "height"},
          {"name": "Bewertung", "attribute": "rating"}
        ]
      }
      """#, to: "p.json")
    let output = try Tool.run("import", "tagebuch.csv", "--store", "s", "--pipeline", "p.json", "-q", in: folder)
    #expect(output.status == 0, "\(output.text)")
    #expect(try rows() == "2014-07-14 05:30:00|Südstrand|1,5 m|4\n2014-07-14 22:00:00|B|hüfthoch|3\n")
  }
}
