import Foundation
import TestSupport
import Testing

/// Files that each version has written, kept in `Tests/Versions` (`make keep-version`): the present version reads,
/// continues, replays, undoes and upgrades them. A release adds its own.
@Suite struct KeptVersionTests {
  static let versions = (try? KeptVersion.all()) ?? []

  @Test func `There is at least one kept version`() { #expect(!Self.versions.isEmpty) }

  @Test(arguments: versions) func `Its stores are sound, and have the entries that it exported`(
    _ version: KeptVersion
  ) throws {
    let kept = try version.restored()
    for store in ["journal.sqlite", "surfing.sqlite"] {
      let before = try kept.work.hashes([store])
      let model = store == "surfing.sqlite" ? ["--model", KeptVersion.model] : []
      let output = try kept.run(["verify", store] + model)
      #expect(output.status == 0, "\(store): \(output.text)\(output.messages)")
      #expect(try kept.run("inspect", store).status == 0)
      #expect(try kept.work.hashes([store]) == before)
    }
    #expect(try kept.export("journal.sqlite") == kept.text("journal.expected.csv"))
    for entity in ["Spot", "Board", "Session"] {
      #expect(
        try kept.export("surfing.sqlite", "--entity", entity, "--model", KeptVersion.model)
          == kept.text("surfing.\(entity).expected.csv"))
    }
  }

  @Test(arguments: versions) func `Its ledger is read as it read it itself`(_ version: KeptVersion) throws {
    let kept = try version.restored()
    let before = try kept.work.hashes(["journal.sqlite"])
    let output = try kept.run("history", "journal.sqlite", "--json")
    #expect(output.status == 0, "\(output.messages)")
    #expect(try kept.differences(of: output.text, from: kept.text("journal.history.json")) == "")
    #expect(try kept.work.hashes(["journal.sqlite"]) == before)
  }

  @Test(arguments: versions) func `Its pipelines mean what they meant`(_ version: KeptVersion) throws {
    let kept = try version.restored()
    for pipeline in ["nightly.json", "surfing.json"] {
      let output = try kept.run("check", pipeline)
      #expect(output.status == 0, "\(output.text)\(output.messages)")
    }
    // All of its inputs are known.
    let run = try kept.run("run", "surfing.json", "--json")
    #expect(run.status == 0, "\(run.messages)")
    #expect(try run.json().counts.inserted == 0 && run.json().counts.updated == 0)
  }

  @Test(arguments: versions) func `What it imported is known, and what it began is continued`(
    _ version: KeptVersion
  ) throws {
    try version.restored().continueImports()
  }

  @Test(arguments: versions) func `Its rejects are replayed once`(_ version: KeptVersion) throws {
    let kept = try version.restored()
    try kept.correctRejects()
    let replay = try kept.run("replay", "rejects/first.csv.rejects.csv", "--json")
    #expect(replay.status == 0, "\(replay.messages)")
    #expect(try replay.json().counts == Summary.Counts(read: 2, inserted: 2))
    _ = try kept.run("replay", "rejects/first.csv.rejects.csv", "-q")
    #expect(try kept.rows("count(*)", where: "ZLOCATION IN ('Spot 7, north', 'Spot 30, north')") == "2\n")
  }

  @Test(arguments: versions) func `Its imports are undone, and its incremental export goes on`(
    _ version: KeptVersion
  ) throws {
    let kept = try version.restored()
    let first = try kept.text("out.csv")
    let hash = try Programs.run("/usr/bin/env", ["xxhsum", "-c", "out.csv.xxh128"], in: kept.work)
    #expect(hash.status == 0, "\(hash.messages)")
    try FileManager.default.removeItem(at: kept.work.file("out.csv"))
    #expect(try kept.run("import", "next.csv", "--pipeline", "nightly.json", "-q").status == 0)
    #expect(try kept.run("export", "--pipeline", "nightly.json", "-q").status == 0)
    let more = try kept.text("out.csv").split(separator: "\n").dropFirst()
    #expect(more.count == 12 && more.allSatisfy { !first.contains($0) })
    let undo = try kept.run("undo", "journal.sqlite", "first.csv", "-y", "--keep-changed")
    #expect(undo.status == 0, "\(undo.messages)")
    #expect(try kept.rows("count(*)", where: "ZLOCATION = 'By hand'") == "1\n")
    #expect(try kept.rows("count(*)", where: "ZLOCATION LIKE 'Spot 2_, north'") == "0\n")
    let linked = try kept.run("undo", "surfing.sqlite", "sessions.csv", "-y", "--model", KeptVersion.model)
    #expect(linked.status == 0, "\(linked.messages)")
  }

  @Test(arguments: versions) func `Its stores are edited by hand and compacted, and stay sound`(
    _ version: KeptVersion
  ) throws {
    let kept = try version.restored()
    for words in [
      ["edit", "1", "--store", "journal.sqlite", "--rating", "2", "-y"], ["delete", "journal.sqlite", "2", "-y"],
      ["add", "--store", "journal.sqlite", "--location", "New", "-y"], ["ledger", "compact", "journal.sqlite"],
      [
        "edit", "1", "--store", "surfing.sqlite", "--entity", "Spot", "--model", KeptVersion.model, "--set",
        "country=PT", "-y",
      ],
    ] {
      let output = try kept.run(words)
      #expect(output.status == 0, "\(words): \(output.messages)")
    }
    for store in ["journal.sqlite", "surfing.sqlite"] { #expect(try kept.run("verify", store).status == 0) }
  }

  @Test(arguments: versions) func `A ledger that lost a checkpoint is found by these tests`(
    _ version: KeptVersion
  ) throws {
    let kept = try version.restored()
    _ = try Programs.sqlite(
      "journal.sqlite", "UPDATE SJ_INPUT SET state = 'complete' WHERE state = 'partial'", in: kept.work)
    let begun = try kept.run("import", "begun.csv", "--pipeline", "nightly.json", "--max-errors", "10", "--json")
    // It is another file then. Its rows are still right: their keys are known.
    #expect(!begun.text.contains("\"state\" : \"resumed\""))
    #expect(
      try kept.differences(of: "[]", from: kept.text("journal.history.json")) != "")
  }
}

/// The files of a version in `Tests/Versions`.
struct KeptVersion: Sendable, CustomTestStringConvertible {
  let name: String
  var testDescription: String { name }

  static let model = "Surfing.xcdatamodeld"
  /// What stands for the work folder in the kept files; `.ci/keep-version` has it too.
  private static let placeholder = "/" + String(repeating: "kept-version-", count: 9) + "xx"

  static func all() throws -> [KeptVersion] {
    try FileManager.default.contentsOfDirectory(atPath: Repository.path("Tests/Versions")).sorted().map {
      KeptVersion(name: $0)
    }
  }

  /// A work folder as the version left it.
  func restored() throws -> RestoredVersion {
    let work = try TemporaryFolder(pathBytes: Self.placeholder.utf8.count)
    try #require(work.url.path.utf8.count == Self.placeholder.utf8.count, "TMPDIR is too long: \(work.url.path)")
    let kept = Repository.file("Tests/Versions/\(name)")
    for path in try FileManager.default.subpathsOfDirectory(atPath: kept.path).sorted() {
      let source = kept.appendingPathComponent(path)
      if try source.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
        try work.makeFolder(path)
        continue
      }
      let text = try String(contentsOf: source, encoding: .utf8)
        .replacingOccurrences(of: Self.placeholder, with: work.url.path)
      if path.hasSuffix(".sqlite.sql") {
        let store = work.path(String(path.dropLast(4)))
        try Programs.output(of: ["sqlite3", "-batch", "-bail", store], input: Data(text.utf8))
      } else {
        try work.write(text, to: path)
      }
    }
    return RestoredVersion(work: work)
  }
}

/// A copy of a kept version in a folder of its own.
struct RestoredVersion {
  let work: TemporaryFolder

  func text(_ name: String) throws -> String { try work.text(name) }

  func run(_ words: String...) throws -> ProgramOutput { try run(words) }
  func run(_ words: [String]) throws -> ProgramOutput { try Programs.run(Tool.url.path, words, in: work) }

  func export(_ store: String, _ options: String...) throws -> String {
    let output = try run(["export", "--store", store, "-o", "-", "-q"] + options)
    #expect(output.status == 0, "\(output.messages)")
    return output.text
  }

  /// Counts of the entries of the journal.
  func rows(_ columns: String, where condition: String) throws -> String {
    try Programs.sqlite("journal.sqlite", "SELECT \(columns) FROM ZJOURNALENTRY WHERE \(condition)", in: work)
  }

  /// The members that the older text has and that the newer one does not have, or has otherwise: new versions add some.
  func differences(of newer: String, from older: String) throws -> String {
    let script = """
      import json, sys
      def compare(new, old, place):
          if isinstance(old, dict) and isinstance(new, dict):
              for key in old: compare(new.get(key), old[key], f"{place}.{key}")
          elif isinstance(old, list) and isinstance(new, list) and len(new) == len(old):
              for index, pair in enumerate(zip(new, old)): compare(*pair, f"{place}[{index}]")
          elif new != old:
              print(f"{place}: {new}, not {old}")
      compare(json.loads(sys.argv[1]), json.loads(sys.argv[2]), "")
      """
    return try Programs.python(script, newer, older, in: work)
  }

  /// Imports the version's inputs again: one was in, one had begun, and one was undone.
  func continueImports() throws {
    let known = try run("import", "first.csv", "--pipeline", "nightly.json", "--json")
    #expect(try known.status == 0 && known.json().counts.read == 0, "\(known)")
    let begun = try run("import", "begun.csv", "--pipeline", "nightly.json", "--max-errors", "10", "--json")
    #expect(begun.status == 65, "\(begun.messages)")
    #expect(begun.text.contains("\"state\" : \"resumed\""), "\(begun.text)")
    #expect(try rows("count(*), count(DISTINCT ZLOCATION)", where: "ZLOCATION LIKE 'Spot %'") == "73|73\n")
    #expect(try text("rejects/begun.csv.rejects.csv").split(separator: "\n").count == 5)
    let undone = try run("import", "undone.csv", "--pipeline", "nightly.json", "--json")
    #expect(undone.status == 0, "\(undone.messages)")
    #expect(try undone.json().counts == Summary.Counts(read: 15, inserted: 5, updated: 10))
  }

  /// Gives the rejected records of the first input a rating that is right.
  func correctRejects() throws {
    let name = "rejects/first.csv.rejects.csv"
    try work.write(try text(name).replacingOccurrences(of: ",9\n", with: ",4\n"), to: name)
  }
}
