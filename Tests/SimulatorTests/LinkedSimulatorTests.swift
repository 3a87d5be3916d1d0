import Foundation
import TestSupport
import Testing

/// One seed draws files of two parts, runs, dry runs, undos and kills, and at the end a deletion that takes sessions along;
/// after each step the store holds what a plain model says: spots that records of sessions change, sessions that lead to
/// spots and tags, both ends of each link, and photos in files, of which none is left over.
/// `ROUNDS` scales it, `SEED=n ROUNDS=1` repeats one world.
@Suite("Whatever happens to linked entries, the store holds what the model says")
struct LinkedSimulatorTests {
  /// 1357746712: a file leaves out a record for a session of another file that the same run replaces afterwards.
  @Test(arguments: [1_357_746_712] + Randomness.seeds(4, long: 600))
  func `Runs, dry runs and undos`(seed: UInt64) throws {
    let world = try LinkedSimulation(seed: seed)
    defer { Figures.add("steps", world.stepCount, suite: Self.self) }
    try expectAgreement(world, steps: 16)
  }

  @Test(arguments: Randomness.seeds(2, long: 300))
  func `The same with processes that are killed`(seed: UInt64) throws {
    let world = try LinkedSimulation(seed: seed &+ 1_000_000_007, kills: true)
    defer {
      Figures.add("steps", world.stepCount, suite: Self.self)
      Figures.add("kills", world.killCount, suite: Self.self)
    }
    try expectAgreement(world, steps: 12)
  }

  @Test("A model with one wrong rule is found to be wrong", arguments: LinkedModel.Mistake.allCases)
  func canary(mistake: LinkedModel.Mistake) throws {
    for seed in [1_357_746_712] + Array(1...12 as ClosedRange<UInt64>) {
      do {
        try LinkedSimulation(seed: seed, mistake: mistake).play(steps: 15)
      } catch is Mismatch {
        return
      }
    }
    Issue.record("\(mistake) was not found in 13 worlds")
  }

  @Test(arguments: [".a.csv.rejects.csv.1a2b3c.partial", "a.csv.rejects.2.csv", "c.csv.rejects.csv.part"])
  func `A left-over file is found in every kind of world`(_ name: String) throws {
    for kills in [false, true] {
      let world = try LinkedSimulation(seed: 7, kills: kills, leftOver: name)
      do {
        try world.play(steps: 4)
        Issue.record("\(name) was not found")
      } catch let mismatch as Mismatch {
        #expect(mismatch.description.contains("left over: [\"\(name)\"]"), "\(mismatch)")
      }
    }
  }

  private func expectAgreement(_ world: LinkedSimulation, steps: Int) throws {
    do {
      try world.play(steps: steps)
    } catch let mismatch as Mismatch {
      Issue.record("\(mismatch)")
    }
  }
}

/// A store, two kinds of files and the model, and the steps that a seed plays on them.
private final class LinkedSimulation {
  private let seed: UInt64
  private var random: SeededGenerator
  /// Draws photos: the sequence of the other draws is the same with and without them.
  private var photoRandom: SeededGenerator
  private let folder: TemporaryFolder
  private let shimFolder: TemporaryFolder
  private let kills: Bool
  private var model: LinkedModel
  private var spots: [(name: String, code: String)] = []
  private var sessions: [String: [LinkedModel.Record]] = [:]
  private var story: [String] = []
  private(set) var stepCount = 0
  private(set) var killCount = 0
  /// Whether the last run was killed: the next command that writes removes what it has left.
  private var mayHaveLeftFiles = false

  init(seed: UInt64, kills: Bool = false, mistake: LinkedModel.Mistake? = nil, leftOver: String? = nil) throws {
    (self.seed, self.kills) = (seed, kills)
    random = SeededGenerator(seed: seed)
    photoRandom = SeededGenerator(seed: seed &+ 19)
    (folder, shimFolder) = (try TemporaryFolder(), try TemporaryFolder())
    model = LinkedModel(replaces: random.isOne(in: 2))
    model.mistake = mistake
    try folder.makeFolder("Surf.xcdatamodel")
    try folder.write(Self.xml, to: "Surf.xcdatamodel/contents")
    try folder.write(pipeline(), to: "p.json")
    if let leftOver { try folder.write("", to: leftOver) }
  }

  private static let xml = """
    <model>
      <entity name="Spot">
        <attribute name="code" optional="YES" attributeType="String"/>
        <attribute name="name" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Session" inverseName="spot" inverseEntity="Session"/>
      </entity>
      <entity name="Session">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16"/>
        <relationship name="spot" optional="YES" maxCount="1" destinationEntity="Spot" inverseName="sessions" inverseEntity="Spot"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="sessions" inverseEntity="Tag"/>
      </entity>
      <entity name="Tag">
        <attribute name="label" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" destinationEntity="Session" inverseName="tags" inverseEntity="Session"/>
      </entity>
    </model>
    """

  private func pipeline() -> String {
    """
    { "name": "surf", "model": "Surf.xcdatamodel", "store": "s.sqlite", "atomic": \(random.isOne(in: 4)),
      "changedInputs": "\(model.replaces ? "replace" : "onlyNew")",
      "limits": { "keysInMemoryMax": \(random.pick([1, 4, 100_000], else: 4)) }, "parts": [
      { "entity": "Spot", "source": "spots.csv", "chunkRows": \(random.number(1...4)), "key": "name",
        "duplicates": "update", "columns": ["name", "code"] },
      { "entity": "Session", "source": ["a.csv", "b.csv"], "chunkRows": \(random.number(1...6)),
        "columns": ["number", "rating", "photo",
          { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "reject", "ifDifferent": "update" } },
          { "name": "code", "attribute": "spot.code" },
          { "name": "tags", "attribute": "tags.label", "link": { "ifMissing": "create", "separator": ";" } }] }] }
    """
  }

  // MARK: Steps

  func play(steps: Int) throws {
    do {
      while stepCount < steps {
        stepCount += 1
        if stepCount > 1, model.canUndo, random.isOne(in: 4) { try undo() } else { try importFiles() }
        try check()
      }
      try deleteSpot()
    } catch {
      throw Mismatch(
        description: "seed \(seed), step \(stepCount): \(error)\n" + story.suffix(30).joined(separator: "\n"))
    }
  }

  private func importFiles() throws {
    try changeFiles()
    var expected = model
    let counts = expected.run(spots: spots, sessions: sessions)
    story.append("\(stepCount). run, expected \(counts); spots \(spots), sessions \(sessions)")
    var isKilled = false
    if kills, random.isOne(in: 2) {
      isKilled = true
      let page = shimFolder.path("page")
      let fault = TestSupport.Fault(.kill, at: random.number(1...700))
      let output = try tool(
        ["run", "./p.json", "-q"], environment: try Shim.environment(fault, in: folder, page: page))
      if output.status == 128 + SIGKILL { killCount += 1 }
    } else if random.isOne(in: 3) {
      let dry = try self.counts(of: try tool(["run", "./p.json", "--dry-run", "--json"]))
      guard dry == counts else { throw Mismatch(description: "the dry run counts \(dry), expected \(counts)") }
    }
    let output = try tool(["run", "./p.json", "--json"])
    let statuses: Set<Int32> = isKilled ? [0, 65] : [counts.rejected > 0 ? 65 : 0]
    guard statuses.contains(output.status) else {
      throw Mismatch(description: "the run ended with \(output.status): \(output.messages)\(output.text)")
    }
    let found = try self.counts(of: output)
    guard isKilled || found == counts else {
      throw Mismatch(description: "the run counts \(found), expected \(counts)")
    }
    if isKilled, try rows(permitsLeftFiles: true) != expected.lines {
      // What the killed run had replaced may have outdated other files: the run after it imports them, too.
      expected.run(spots: spots, sessions: sessions, continues: true)
    }
    model = expected
    mayHaveLeftFiles = isKilled
  }

  private func undo() throws {
    story.append("\(stepCount). undo")
    let output = try tool(["undo", "s.sqlite", "-y", "-q", "--model", "Surf.xcdatamodel"])
    guard output.status == 0 else {
      throw Mismatch(description: "the undo ended with \(output.status): \(output.messages)")
    }
    model.undo()
    mayHaveLeftFiles = false
  }

  /// Deletes a spot by hand, with its sessions and their photos. What an undo makes of that is not part of the model, so
  /// this ends a world.
  private func deleteSpot() throws {
    let names = Set(model.sessions.map(\.row.spot)).intersection(model.spots.keys).sorted()
    guard !names.isEmpty else { return }
    let name = random.pick(names, else: "")
    story.append("deletion of \(name)")
    let command = [
      "delete", "s.sqlite", "--entity", "Spot", "--where", "name == '\(name)'", "-y", "-q", "--model",
      "Surf.xcdatamodel",
    ]
    var expected = model
    expected.delete(name)
    if kills {
      let page = shimFolder.path("page")
      let fault = TestSupport.Fault(.kill, at: random.number(1...400))
      let output = try tool(command, environment: try Shim.environment(fault, in: folder, page: page))
      if output.status == 128 + SIGKILL { killCount += 1 }
      let found = try rows(permitsLeftFiles: true)
      guard found == model.lines || found == expected.lines else {
        throw Mismatch(description: "a killed deletion has left \(found)")
      }
      // Nothing is left to be deleted then.
      if found == expected.lines { return }
    }
    let output = try tool(command)
    guard output.status == 0 else {
      throw Mismatch(description: "the deletion ended with \(output.status): \(output.messages)")
    }
    model = expected
    try check()
  }

  private func tool(_ arguments: [String], environment: [String: String] = [:]) throws -> ProgramOutput {
    try Programs.run(Simulation.program.path, arguments, in: folder, environment: environment)
  }

  private func counts(of output: ProgramOutput) throws -> LinkedModel.Counts {
    guard let report = try? JSONSerialization.jsonObject(with: output.bytes) as? [String: Any],
      let counts = report["counts"] as? [String: Int]
    else { throw Mismatch(description: "no report: \(output.messages)") }
    let spot = (report["links"] as? [[String: Any]] ?? []).first { $0["entity"] as? String == "Spot" }
    return LinkedModel.Counts(
      inserted: counts["inserted"] ?? -1, updated: counts["updated"] ?? -1, unchanged: counts["unchanged"] ?? -1,
      rejected: counts["rejected"] ?? -1, changed: spot?["updated"] as? Int ?? 0)
  }

  // MARK: Files

  private func changeFiles() throws {
    if spots.isEmpty || random.isOne(in: 2) {
      let names = (0..<8).map { "s\($0)" }.shuffled(using: &random).prefix(random.number(3...6))
      spots = names.map { ($0, random.pick(["", "x", "y", "z"], else: "")) }
    }
    // Few numbers are of both files, so that neither is taken for the other.
    for (path, own) in [("a.csv", 0...14), ("b.csv", 100...114)] where sessions[path] == nil || random.isOne(in: 2) {
      var records = sessions[path] ?? []
      records = records.filter { _ in !random.isOne(in: 4) }.map { random.isOne(in: 4) ? record($0.row.number) : $0 }
      if random.isOne(in: 2), !records.contains(where: { $0.row.number == 200 }) { records.append(record(200)) }
      while records.count < 6 || random.isOne(in: 2) { records.append(record(random.number(own))) }
      if random.isOne(in: 2) { records.shuffle(using: &random) }
      sessions[path] = records
    }
    try folder.write(
      "name,code\n" + spots.map { "\($0.name),\($0.code)\n" }.joined(), to: "spots.csv")
    for (path, records) in sessions {
      let lines = records.map { record in
        let row = record.row
        let tags = row.tags.reversed().joined(separator: ";")
        let photo = UInt8(row.photo).map { Self.photo($0).base64EncodedString() } ?? ""
        return "\(row.number),\(row.rating),\(row.spot),\(record.code),\(tags),\(photo)\n"
      }
      try folder.write("number,rating,spot,code,tags,photo\n" + lines.joined(), to: path)
    }
  }

  private func record(_ number: Int) -> LinkedModel.Record {
    let spot = random.isOne(in: 8) ? "" : "s\(random.number(0...8))"
    let tags = ["t0", "t1", "t2"].filter { _ in random.isOne(in: 3) }
    let rating = random.pick(["", "1", "2"], else: "")
    let photo = photoRandom.isOne(in: 5) ? "\(photoRandom.number(1...2))" : ""
    let row = LinkedModel.Row(number: number, rating: rating, spot: spot, tags: tags, photo: photo)
    return LinkedModel.Record(row: row, code: spot.isEmpty ? "" : random.pick(["", "", "x", "y"], else: ""))
  }

  /// Large enough for a file of its own.
  private static func photo(_ byte: UInt8) -> Data { Data(repeating: byte, count: 131_073 + Int(byte)) }

  // MARK: The store

  /// The tables, as the sqlite3 shell reads them; both ends of each link must be there.
  private static let query = """
    SELECT 'spot ' || ZNAME || ' ' || coalesce(ZCODE, '') FROM ZSPOT ORDER BY 1;
    SELECT 'tag ' || ZLABEL FROM ZTAG ORDER BY 1;
    SELECT 'session ' || ZNUMBER || ' ' || coalesce(ZRATING, '') || ' ' || coalesce(p.ZNAME, '') || ' ' || coalesce(
      (SELECT group_concat(l) FROM (SELECT ZLABEL l FROM JOINED j JOIN ZTAG t ON t.Z_PK = j.TAG WHERE j.SESSION = s.Z_PK
      ORDER BY 1)), '') || ' ' || hex(coalesce(ZPHOTO, '')) FROM ZSESSION s LEFT JOIN ZSPOT p ON p.Z_PK = s.ZSPOT ORDER BY 1;
    SELECT 'dangling' FROM ZSESSION WHERE ZSPOT NOT IN (SELECT Z_PK FROM ZSPOT);
    SELECT 'dangling' FROM JOINED WHERE TAG NOT IN (SELECT Z_PK FROM ZTAG) OR SESSION NOT IN (SELECT Z_PK FROM ZSESSION);
    PRAGMA integrity_check
    """

  private func check() throws {
    try checkFolder()
    let (found, expected) = (try rows(permitsLeftFiles: mayHaveLeftFiles), model.lines)
    guard found != expected else { return }
    throw Mismatch(
      description: "the store has \(found.filter { !expected.contains($0) }) and lacks "
        + "\(expected.filter { !found.contains($0) }); \(found.count) lines, expected \(expected.count)")
  }

  /// Every file is an input, the pipeline, its model, the store, or rejects that the ledger names. A command that was killed
  /// was repeated, so nothing of it is left.
  private func checkFolder() throws {
    var known: Set = ["Surf.xcdatamodel", "p.json", "spots.csv", "a.csv", "b.csv", "s.sqlite", ".s_SUPPORT"]
    // The last of two repetitions may not have written to the store.
    if mayHaveLeftFiles { known.formUnion(["s.sqlite-wal", "s.sqlite-shm", "s.sqlite.lock"]) }
    let names = try folder.names
    let rejects = try sql("SELECT rejectsPath FROM SJ_INPUT WHERE rejectsPath IS NOT NULL")
    known.formUnion(rejects.map { ($0 as NSString).lastPathComponent }.flatMap { [$0, $0 + ".jsonl"] })
    let left = names.filter { !known.contains($0) }
    guard left.isEmpty else { throw Mismatch(description: "left over: \(left); the ledger has \(rejects)") }
  }

  /// What the store holds, in the model's words.
  ///
  /// - Parameter permitsLeftFiles: Whether there may be files that no row has.
  private func rows(permitsLeftFiles: Bool) throws -> [String] {
    let tables = try sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*TAGS'")
    let join = tables.first ?? ""
    let columns = try sql("SELECT name FROM pragma_table_info('\(join)')")
    guard let tag = columns.first(where: { $0.hasSuffix("TAGS") }), let session = columns.first(where: { $0 != tag })
    else { throw Mismatch(description: "the join table has the columns \(columns)") }
    let query = Self.query.replacing("JOINED", with: join).replacing("SESSION = s", with: "\(session) = s")
      .replacing("j.TAG", with: "j.\(tag)").replacing("WHERE TAG", with: "WHERE \(tag)")
      .replacing("OR SESSION NOT", with: "OR \(session) NOT")
    var files: [String] = []
    let found = try sql(query).map { line in
      line.hasPrefix("session ") ? try withPhoto(line, &files) : line
    }
    let present = try? FileManager.default.contentsOfDirectory(atPath: folder.path(Self.values))
    if Set(files).count < files.count || !permitsLeftFiles && (present ?? []).sorted() != files.sorted() {
      return found + ["files \(present ?? []), and rows have \(files)"]
    }
    return (found.last == "ok" ? found.dropLast() : found).sorted()
  }

  private static let values = ".s_SUPPORT/_EXTERNAL_DATA"

  /// The line with the photo's byte for what the row has of it.
  ///
  /// - Parameter files: Gets the file's name.
  private func withPhoto(_ line: String, _ files: inout [String]) throws -> String {
    var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard let mark = words.popLast(), !mark.isEmpty else { return line }
    // 02, the name in hexadecimal digits, and 00.
    let digits = Array(mark.utf8.dropFirst(2).dropLast(2))
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
    }
    let name = String(decoding: bytes, as: UTF8.self)
    files.append(name)
    let content = try? Data(contentsOf: folder.file("\(Self.values)/\(name)"))
    let byte = content?.first ?? 0
    words.append(mark.hasPrefix("02") && content == Self.photo(byte) ? "\(byte)" : "unreadable photo \(mark)")
    return words.joined(separator: " ")
  }

  private func sql(_ query: String) throws -> [String] {
    try Programs.sqlite("s.sqlite", query, in: folder).split(separator: "\n").map(String.init)
  }
}
