import Foundation
import TestSupport
import Testing

/// Tables that Python writes in any dialect that a pipeline can declare: the program reads what was meant, or refuses.
@Suite struct TableDialectTests {
  private static let peer = Repository.path("Tests/Peers/tables/tables.py")
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// A table that Python has written, as it describes it.
  private struct Table: Decodable {
    let name: String
    /// What `import` needs to know of the dialect.
    let arguments: [String]
    let entries: Int
    /// How many of its records have to be rejected.
    let rejected: Int
    /// Its seed and its dialect.
    let what: String
  }

  private func tables(_ kind: String, seed: UInt64 = Randomness.seed, count: Int) throws -> [Table] {
    let lines = try Programs.output(of: ["python3", Self.peer, kind, String(seed), String(count)], in: folder)
    return try lines.split(separator: "\n").map { try JSONDecoder().decode(Table.self, from: Data($0.utf8)) }
  }

  /// How the stores differ from what the tables mean, one line for each.
  private func differences(_ names: [String]) throws -> String {
    try Programs.output(of: ["python3", Self.peer, "compare"] + names, in: folder)
  }

  private func surfjournal(_ arguments: [String]) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  /// Imports a table into the store of its name.
  private func importTable(_ table: Table) throws {
    let output = try surfjournal(
      ["import", "\(table.name).csv", "--store", "\(table.name).sqlite", "--json"] + table.arguments)
    #expect(output.status == (table.rejected == 0 ? 0 : 65), "\(table.what)\n\(output.messages)")
    let counts = try? output.json().counts
    #expect(counts?.inserted == table.entries, "\(table.what)")
    #expect(counts?.rejected == table.rejected, "\(table.what)")
  }

  @Test(.seeded) func `What Python writes in a declared dialect is stored and exported as it was meant`() throws {
    let tables = try tables("declared", count: TestLength.rounds(30, long: 2000))
    for (number, table) in tables.enumerated() {
      try importTable(table)
      guard number % 3 == 0 else { continue }
      let export = try surfjournal([
        "export", "--store", "\(table.name).sqlite", "--entity", "Sample", "--model", "Sample.xcdatamodel", "--null",
        "\\N", "--output", "\(table.name).out.csv", "-q",
      ])
      #expect(export.status == 0, "\(table.what)\n\(export.messages)")
    }
    let differences = try differences(tables.map(\.name))
    #expect(differences.isEmpty, "\(differences)\(Self.described(tables, in: differences))")
  }

  @Test(.seeded) func `What Python writes is guessed as it was meant, or refused`() throws {
    let tables = try tables("guessed", count: TestLength.rounds(20, long: 1500))
    var names: [String] = []
    for table in tables {
      let store = "\(table.name).sqlite"
      let guess = try surfjournal(["guess", "\(table.name).csv", "-o", "\(table.name).json", "--store", store, "-q"])
      #expect([0, 65].contains(guess.status), "\(table.what)\n\(guess.messages)")
      guard guess.status == 0 else { continue }
      let run = try surfjournal(["run", "\(table.name).json", "-q"])
      #expect([0, 65].contains(run.status), "\(table.what)\n\(run.messages)")
      if folder.exists(store) { names.append(table.name + (run.status == 0 ? "" : "-")) }
    }
    let differences = try differences(names)
    #expect(differences.isEmpty, "\(differences)\(Self.described(tables, in: differences))")
    // Refusing everything would be right, and useless.
    #expect(names.count * 2 > tables.count, "only \(names) were read")
  }

  /// The dialects of the tables that differ.
  private static func described(_ tables: [Table], in differences: String) -> String {
    tables.filter { differences.contains("\($0.name):") }.map(\.what).joined(separator: "\n")
  }

  // MARK: Whether these tests can fail

  @Test func `A store with another value, another entry or one too few is found to differ`() throws {
    let table = try #require(try tables("declared", seed: 20_140_714, count: 12).max { $0.entries < $1.entries })
    try importTable(table)
    let store = "\(table.name).sqlite"
    try FileManager.default.copyItem(at: folder.file(store), to: folder.file("whole.sqlite"))
    #expect(try differences([table.name]).isEmpty)
    let changes = [
      "UPDATE ZSAMPLE SET ZMEMO = coalesce(ZMEMO, '') || ' ' WHERE Z_PK = 2", "UPDATE ZSAMPLE SET ZMOMENT = 1",
      "UPDATE ZSAMPLE SET ZNOTE = '' WHERE ZNOTE IS NULL AND Z_PK = 1; UPDATE ZSAMPLE SET ZSIZE = 0.5 WHERE Z_PK = 1",
      "DELETE FROM ZSAMPLE WHERE Z_PK = (SELECT max(Z_PK) FROM ZSAMPLE)",
    ]
    for change in changes {
      try folder.data("whole.sqlite").write(to: folder.file(store))
      try sqlite(folder.file(store), change)
      #expect(try differences([table.name]).hasPrefix("\(table.name): "), "\(change)")
      let afterRejects = try differences([table.name + "-"])
      #expect(afterRejects.isEmpty == change.hasPrefix("DELETE"), "\(change): \(afterRejects)")
    }
  }

  @Test func `A dialect that is declared wrongly is found to differ`() throws {
    var found = 0
    for table in try tables("declared", seed: 7, count: 30) where table.arguments.contains("--entity") {
      // The last of an option counts; another zone or another decimal character changes what is read, if anything.
      let output = try surfjournal(
        ["import", "\(table.name).csv", "--store", "\(table.name).sqlite", "-q"] + table.arguments
          + ["--time-zone", "Asia/Tokyo", "--encoding", "windows-1252"])
      let differs = folder.exists("\(table.name).sqlite") ? try !differences([table.name]).isEmpty : false
      if output.status == 0, differs { found += 1 }
    }
    #expect(found > 0)
  }
}
