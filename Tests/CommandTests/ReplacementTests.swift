import Foundation
import TestSupport
import Testing

/// Inputs that share records, in every order: what one inserts, leaves out, replaces or takes back neither doubles nor
/// loses what another one has.
@Suite struct ReplacementTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// `count` records that differ, from the number `first` on.
  private static func records(_ count: Int, from first: Int = 1) -> [String] {
    (first..<first + count).map { "2015-\($0 / 28 % 12 + 1)-\($0 % 28 + 1),\($0)m,,,Spot \($0),\($0 % 5 + 1)\n" }
      .map { $0.replacingOccurrences(of: "-([0-9])(?=[-,])", with: "-0$1", options: .regularExpression) }
  }

  private func write(_ records: [String], to name: String) throws {
    try folder.write(Logs.header + records.joined(), to: name)
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  private func load(_ arguments: String..., status: Int32 = 0) throws {
    let output = try Programs.run(Tool.url.path, ["import", "--store", "s", "-q"] + arguments, in: folder)
    #expect(output.status == status, "\(arguments): \(output.messages)\(output.text)")
  }

  private var count: Int {
    get throws { Int(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder).dropLast()) ?? -1 }
  }

  // MARK: Replacing

  @Test func `What came from standard input is replaced input by input`() throws {
    for first in [1, 1001] {
      let text = Logs.header + Self.records(60, from: first).joined()
      #expect(try Tool.run("import", "-", "--store", "s", in: folder, input: text).status == 0)
    }
    var changed = Self.records(61)
    changed[6] = changed[6].replacingOccurrences(of: "Spot", with: "Spott")
    let piped = try Tool.run("import", "-", "--store", "s", in: folder, input: Logs.header + changed.joined())
    #expect(piped.status == 65 && !piped.messages.contains("--replace"), "\(piped.messages)")
    try write(changed, to: "a.csv")
    try load("a.csv", "--replace")
    #expect(try count == 121)
  }

  @Test func `The same name in another folder is another file, and another name of a file is the same one`() throws {
    for (index, name) in ["2023", "2024"].enumerated() {
      try folder.makeFolder(name)
      try write(Self.records(60, from: index * 2000 + 1), to: "\(name)/log.csv")
      let output = try Tool.shell("cd \(name); $surfjournal import log.csv --store ../s --replace", in: folder)
      #expect(output.status == 0, "\(output.messages)")
    }
    #expect(try count == 120)
    try write(Self.records(30, from: 9001), to: "2023/log.csv")
    let refused = try run("import", "./2023/log.csv", "--store", "s")
    #expect(refused.status == 65 && refused.messages.contains("none of its 30 records is in the store"))
    try load(folder.path("2023/log.csv"), "--replace")
    #expect(try count == 90)
  }

  @Test func `A file that contains two others replaces the one, and does not double the other`() throws {
    try write(Self.records(60), to: "a.csv")
    try write(Self.records(30, from: 800), to: "b.csv")
    try load("a.csv", "b.csv")
    var all = Self.records(60) + Self.records(30, from: 800) + Self.records(1, from: 999)
    all[2] = all[2].replacingOccurrences(of: "Spot", with: "Spott")
    try write(all, to: "all.csv")
    try load("all.csv", "--replace")
    #expect(try count == 91)
  }

  @Test func `A file that left out what another of the same run replaces is read again`() throws {
    try write(Self.records(6), to: "a.csv")
    try write(Self.records(6, from: 5), to: "b.csv")
    try load("a.csv")
    try load("b.csv", "--only-new")
    #expect(try count == 10)
    try write(Self.records(4) + Self.records(1, from: 20), to: "a.csv")
    try load("a.csv", "b.csv", "--replace")
    #expect(try count == 11)
  }

  @Test func `A file whose equal records all came from an earlier file of the run replaces that one`() throws {
    try write(Self.records(3), to: "x.csv")
    try load("x.csv")
    let equal = Array(repeating: Self.records(1, from: 10)[0], count: 3)
    try write(equal + Self.records(1, from: 11), to: "a.csv")
    try write(equal, to: "b.csv")
    try load("a.csv", "b.csv", "--replace")
    #expect(try count == 6)
  }

  @Test func `Corrected rejects that were replayed are not doubled by the corrected file`() throws {
    var records = Self.records(60)
    for index in [4, 7] { records[index] = String(records[index].dropLast(2)) + "9\n" }
    try write(records, to: "r.csv")
    try load("r.csv", status: 65)
    let rejects = try folder.text("r.csv.rejects.csv").replacingOccurrences(of: ",9\n", with: ",3\n")
    try folder.write(rejects, to: "r.csv.rejects.csv")
    #expect(try run("replay", "r.csv.rejects.csv").status == 0)
    #expect(try count == 60)
    for index in [4, 7] { records[index] = String(records[index].dropLast(2)) + "3\n" }
    records[39] = records[39].replacingOccurrences(of: "Spot", with: "Spott")
    try write(records, to: "r.csv")
    try load("r.csv", "--replace")
    #expect(try count == 60)
  }

  @Test func `Equal records of two files stay two when one of the files is replaced`() throws {
    try write(Self.records(3), to: "a.csv")
    try write(Self.records(1) + Self.records(3, from: 50), to: "b.csv")
    try load("a.csv", "b.csv")
    #expect(try count == 7)
    try write(Self.records(3) + Self.records(1, from: 90), to: "a.csv")
    try load("a.csv", "--replace")
    #expect(try count == 8)
  }

  @Test func `Replacing by what an older content had brings that back`() throws {
    try write(Self.records(10), to: "a.csv")
    try load("a.csv")
    try write(Self.records(9) + Self.records(1, from: 70), to: "a.csv")
    try load("a.csv", "--only-new")
    try write(Self.records(10), to: "a.csv")
    try load("a.csv", "--replace")
    #expect(try count == 10)
  }

  @Test func `A file without records does not replace anything`() throws {
    try write(Self.records(10), to: "a.csv")
    try load("a.csv")
    try write([], to: "a.csv")
    let output = try run("import", "a.csv", "--store", "s", "--replace")
    #expect(output.status == 65 && output.messages.contains("surfjournal undo"), "\(output.messages)")
    #expect(try count == 10)
  }

  // MARK: Counting

  @Test func `An import that was interrupted goes on with --only-new, and equal sessions stay`() throws {
    let equal = Self.records(1)
    try write(equal + ["2015-01-02,1,,,B,9\n"] + equal, to: "e.csv")
    try load("e.csv", "--stop-on-error", "--chunk-rows", "1", status: 65)
    try write(equal + ["2015-01-02,1,,,B,4\n"] + equal, to: "e.csv")
    try load("e.csv", "--only-new")
    #expect(try count == 3)
  }

  @Test func `An appended session equal to an earlier one is new`() throws {
    try folder.write(
      #"{"name": "ap", "extends": "surf-log", "appendOnly": true, "changedInputs": "onlyNew"}"#, to: "ap.json")
    try write(Self.records(5), to: "g.csv")
    try load("g.csv", "--pipeline", "ap.json")
    try write(Self.records(5) + Self.records(1, from: 5) + Self.records(1, from: 99), to: "g.csv")
    try load("g.csv", "--pipeline", "ap.json")
    #expect(try count == 7)
  }

  @Test func `A deleted entry of the earlier part does not stand for a record of the next file`() throws {
    try folder.write(
      #"{"name": "ap", "extends": "surf-log", "appendOnly": true, "changedInputs": "onlyNew"}"#, to: "ap.json")
    try write(Self.records(5), to: "g.csv")
    try load("g.csv", "--pipeline", "ap.json")
    #expect(try run("delete", "2", "--store", "s", "-y").status == 0)
    try write(Self.records(5) + Self.records(1, from: 99), to: "g.csv")
    try write(Self.records(2, from: 1) + Self.records(1, from: 700), to: "h.csv")
    try load("g.csv", "h.csv", "--pipeline", "ap.json")
    #expect(try count == 7)
  }

  @Test func `What inputs of the same run have added counts, also where they were not compared themselves`() throws {
    try folder.write(#"{"name": "ap", "extends": "surf-log", "appendOnly": true}"#, to: "ap.json")
    try write(Self.records(5), to: "g.csv")
    try load("g.csv", "--pipeline", "ap.json")
    try write(Self.records(5, from: 500), to: "x.csv")
    try write(Self.records(5) + Self.records(40, from: 700), to: "g.csv")
    var most = Self.records(41, from: 700)
    most[3] = most[3].replacingOccurrences(of: "Spot", with: "Spott")
    try write(most, to: "y.csv")
    try load("x.csv", "g.csv", "y.csv", "--pipeline", "ap.json", status: 65)
    #expect(try count == 50)
  }

  @Test func `Rejected records don't hide that all others are in the store`() throws {
    let bad = (1...15).map { "never,\($0),,,Bad,1\n" }
    try write(Self.records(10) + bad, to: "a.csv")
    try load("a.csv", status: 65)
    var changed = Self.records(10)
    changed[0] = changed[0].replacingOccurrences(of: "Spot", with: "Spott")
    try write(changed + bad, to: "b.csv")
    let output = try run("import", "b.csv", "--store", "s")
    #expect(output.messages.contains("9 of its 10 records are in the store"), "\(output.messages)")
    #expect(try count == 10)
  }

  @Test func `A dry run of several files finds that they share records`() throws {
    try write(Self.records(10), to: "a.csv")
    try write(Self.records(9) + Self.records(1, from: 70), to: "b.csv")
    let dry = try run("validate", "a.csv", "b.csv")
    #expect(dry.status == 65 && dry.messages.contains("9 of its 10 records are"), "\(dry.messages)")
    try load("a.csv", "b.csv", status: 65)
  }

  // MARK: Taking back

  @Test func `What was begun and given up goes with the input that took its place`() throws {
    try write(Self.records(20) + ["never,1,,,Bad,1\n"], to: "e.csv")
    try load("e.csv", "--stop-on-error", "--chunk-rows", "1", status: 65)
    var changed = Self.records(21)
    changed[2] = changed[2].replacingOccurrences(of: "Spot", with: "Spott")
    try write(changed, to: "e.csv")
    try load("e.csv", "--only-new")
    #expect(try count == 22)
    #expect(try run("undo", "s", "-y").status == 0)
    #expect(try count == 0)
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM SJ_INSERTED", in: folder) == "0\n")
  }

  @Test(arguments: [false, true])
  func `An input that left out records is imported again after those were taken back`(isKeyed: Bool) throws {
    let option = isKeyed ? ["--pipeline", "k.json"] : ["--only-new"]
    try folder.write(
      #"{"name": "k", "extends": "surf-log", "key": ["date", "location"], "duplicates": "skip"}"#, to: "k.json")
    try write(Self.records(6), to: "jan.csv")
    try write(Self.records(9), to: "feb.csv")
    for name in ["jan.csv", "feb.csv"] {
      #expect(try Programs.run(Tool.url.path, ["import", name, "--store", "s"] + option, in: folder).status == 0)
    }
    let undo = try run("undo", "s", "jan.csv", "-y")
    #expect(undo.text.contains("feb.csv, imported later, left out records that the store had"), "\(undo.messages)")
    #expect(try count == 3)
    #expect(try run("history", "s").text.contains("feb.csv  outdated"))
    if !isKeyed { #expect(try run("import", "feb.csv", "--store", "s").messages.contains("--only-new")) }
    #expect(try Programs.run(Tool.url.path, ["import", "feb.csv", "--store", "s"] + option, in: folder).status == 0)
    #expect(try count == 9)
  }

  @Test func `Undos and updates in turn lead back to the beginning`() throws {
    try folder.write(
      #"{"name": "k", "extends": "surf-log", "key": ["date", "location"], "duplicates": "update"}"#, to: "k.json")
    try write(Self.records(3), to: "base.csv")
    try load("base.csv", "--pipeline", "k.json")
    for (name, undos) in [("u1", 1), ("u2", 0), ("u3", 3)] {
      try write(Self.records(3).map { $0.replacingOccurrences(of: "m,", with: "\(name),") }, to: "\(name).csv")
      try load("\(name).csv", "--pipeline", "k.json")
      for _ in 0..<undos {
        let output = try run("undo", "s", "-y")
        #expect(output.status == 0, "\(output.messages)")
      }
    }
    #expect(try count == 0)
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM SJ_RESTORED", in: folder) == "0\n")
  }
}
