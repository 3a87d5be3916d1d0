import Foundation
import TestSupport
import Testing

/// A store in which one number is the least or the greatest of all, or missing: each command ends with a status of its
/// own, whatever it can make of the store.
@Suite(.seeded) struct ExtremeNumberTests {
  private static let tables = [
    "Z_PRIMARYKEY", "Z_METADATA", "ZJOURNALENTRY", "SJ_LEDGER", "SJ_RUN", "SJ_INPUT", "SJ_INSERTED",
  ]
  private static let values = ["-9223372036854775808", "9223372036854775807", "-1", "NULL"]
  private static let commands = [
    "list t.sqlite", "export --store t.sqlite --output - -q", "verify t.sqlite", "history t.sqlite",
    "validate b.csv --store t.sqlite -q", "import b.csv --store t.sqlite -q", "undo t.sqlite -y",
    "import b.csv --store t.sqlite --only-new -q", "add --store t.sqlite --date 2020-01-01 -y",
    "edit 1 --store t.sqlite -y --rating 4", "delete 1 --store t.sqlite -y", "copy t.sqlite t.sqlite.copy",
  ]
  private let folder: TemporaryFolder

  /// Each table of the store has one row.
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.header + "2014-01-01,1,,,ok,3\nsoon,1,,,x,3\n", to: "a.csv")
    try folder.write(Logs.header + "2015-01-01,1,,,b,3\n", to: "b.csv")
    let made = try Tool.run("import", "a.csv", "--store", "base.sqlite", "-q", in: folder)
    try #require(made.status == 65, "\(made.messages)")
  }

  /// Makes `damaged.sqlite` of the store.
  private func damage(_ sql: String) throws {
    try? FileManager.default.removeItem(at: folder.file("damaged.sqlite"))
    try FileManager.default.copyItem(at: folder.file("base.sqlite"), to: folder.file("damaged.sqlite"))
    _ = try Programs.sqlite("damaged.sqlite", sql, in: folder)
  }

  /// Runs a command on a new copy of the damaged store. The time guards against hangs only.
  private func run(_ command: String) throws -> ProgramOutput {
    try Tool.shell(
      "rm -f t.sqlite* b.csv.*; cp damaged.sqlite t.sqlite; exec timeout 100 \"$surfjournal\" \(command)", in: folder)
  }

  @Test func `Each command ends with a status of its own`() throws {
    var damages: [String] = []
    for table in Self.tables {
      let query = "SELECT name FROM pragma_table_info('\(table)') WHERE type = 'INTEGER'"
      for column in try Programs.sqlite("base.sqlite", query, in: folder).split(separator: "\n") {
        damages += Self.values.map { "UPDATE \(table) SET \(column) = \($0)" }
      }
    }
    try #require(damages.count > 100)
    var random = Randomness.generator()
    var count = 0
    for sql in damages.shuffled(using: &random).prefix(TestLength.rounds(12, long: damages.count)) {
      do {
        try damage(sql)
      } catch {
        // Keys of tables, and most columns of the ledger, refuse null.
        #expect(sql.hasSuffix("NULL"), "\(sql): \(error)")
        continue
      }
      count += 1
      for command in Self.commands {
        let output = try run(command)
        #expect(
          output.status < 128 && ![70, 124].contains(output.status),
          "\(command) after \(sql): \(output.status) \(output.messages)")
      }
    }
    Figures.add("stores with an extreme number", count, suite: Self.self)
  }

  /// What is damaged, the commands that can't do without it, and a part of the reason.
  private static let refused: [(sql: String, commands: [String], reason: String)] = [
    (
      "UPDATE Z_PRIMARYKEY SET Z_ENT = -1",
      ["list t.sqlite", "import b.csv --store t.sqlite", "undo t.sqlite -y", "validate b.csv --store t.sqlite"],
      "has -1 as the number (Z_ENT) of JournalEntry"
    ),
    (
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807",
      [
        "import b.csv --store t.sqlite", "validate b.csv --store t.sqlite",
        "add --store t.sqlite --date 2020-01-01 -y",
      ],
      "keys of JournalEntry are used up"
    ),
    (
      "UPDATE ZJOURNALENTRY SET Z_PK = 9223372036854775807",
      ["import b.csv --store t.sqlite", "add --store t.sqlite --date 2020-01-01 -y"], "keys of JournalEntry are used up"
    ),
    (
      "UPDATE SJ_INSERTED SET firstKey = -9223372036854775808", ["undo t.sqlite -y"],
      "SJ_INSERTED says that a.csv inserted entries with the keys from -9223372036854775808 to 1"
    ),
    ("UPDATE SJ_INSERTED SET lastKey = 9223372036854775807", ["undo t.sqlite -y"], "to 9223372036854775807"),
  ]

  @Test(arguments: refused.indices)
  func `A number that no store gives is named with its table, and the store is to be restored`(_ index: Int) throws {
    let (sql, commands, reason) = Self.refused[index]
    try damage(sql)
    for command in commands {
      let output = try run(command)
      #expect(output.status == 65, "\(command) after \(sql): \(output.status) \(output.messages)")
      #expect(
        output.messages.contains(reason) && output.messages.contains("from a copy"),
        "\(command) after \(sql): \(output.messages)")
    }
  }

  @Test(arguments: [
    "inputID = 9223372036854775807", "headBytes = -1", "record = -9223372036854775808", "headHash = 'x'",
  ])
  func `A row of the ledger that can't be read keeps inputs from being imported again`(_ cell: String) throws {
    try damage("UPDATE SJ_INPUT SET \(cell)")
    for input in ["a.csv", "b.csv"] {
      for command in ["validate", "import"] {
        let output = try run("\(command) \(input) --store t.sqlite")
        #expect(output.status == 65, "\(command) \(input) after \(cell): \(output.status) \(output.messages)")
        #expect(output.messages.contains("1 of 1 rows of SJ_INPUT"), "\(output.messages)")
      }
    }
    #expect(try Programs.sqlite("t.sqlite", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "1\n")
  }
}
