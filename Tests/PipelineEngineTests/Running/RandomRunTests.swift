import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Random dirty files, stores and policies: a dry run says what the real run then does, and both are as a simple
/// reckoning over a list of entries has it.
@Suite(.seeded) struct RandomRunTests {
  struct Entry: Equatable {
    var day: Int
    var place: String?
    var rating: Int?
  }

  /// What a policy comes to, record by record.
  struct Reckoning {
    var entries: [Entry]
    var counts = RunCounts()
    /// The places of entries that records of the present file have made, or have had the key of.
    var met: Set<Int> = []
    let policy: DuplicatePolicy
    let key: [String]

    mutating func take(_ record: Entry) {
      counts.read += 1
      guard let place = entries.firstIndex(where: { isSame($0, record) }) else {
        counts.inserted += 1
        entries.append(record)
        met.insert(entries.count - 1)
        return
      }
      let before = counts
      switch policy {
      case .reject: counts.rejected += 1
      case .skip: counts.duplicate += 1
      case .update: update(place, record)
      case .keepNewest:
        if record.day > entries[place].day {
          update(place, record)
        } else if record == entries[place] {
          counts.unchanged += 1
        } else {
          counts.duplicate += 1
        }
      }
      let isFirst = met.insert(place).inserted
      if policy == .reject || isFirst { return }
      counts = before
      counts.repeated += 1
    }

    private mutating func update(_ place: Int, _ record: Entry) {
      var changed = record
      if case .update(let columns?) = policy {
        changed = entries[place]
        if columns.contains("rating") { changed.rating = record.rating }
      }
      if changed == entries[place] { counts.unchanged += 1 } else { counts.updated += 1 }
      entries[place] = changed
    }

    private func isSame(_ left: Entry, _ right: Entry) -> Bool {
      if key == ["location"] { return left.place != nil && left.place == right.place }
      return !key.isEmpty && left.day == right.day && left.place == right.place
    }
  }

  @Test(arguments: Randomness.seeds(8, long: 2000))
  func `The counts of a dry run are those of the run, and both are right`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let store = folder.path("store.sqlite")
    let choices: [(key: [String], policy: DuplicatePolicy)] = [
      ([], .reject), (["date", "location"], .reject), (["location"], .skip), (["date", "location"], .skip),
      (["date", "location"], .update(columns: nil)), (["location"], .update(columns: ["rating"])),
      (["location"], .update(columns: nil)), (["location"], .keepNewest(by: "date")),
    ]
    let choice = choices[Int(seed % UInt64(choices.count))]
    let definition = PipelineDefinition.plain {
      $0.key = choice.key
      $0.duplicates = choice.policy
      $0.columns[2].rules = [ValueRule(.range(min: 1, max: 5))]
      $0.chunkRows = [1, 7, 50, 1000].randomElement(using: &random) ?? 1
      $0.limits.keysInMemoryMax = [1, 10, 100_000].randomElement(using: &random) ?? 1
      $0.limits.issuesListedMax = 100_000
    }
    var reckoning = Reckoning(entries: [], policy: choice.policy, key: choice.key)
    var inputs: [String] = []
    for number in 0..<Int.random(in: 1...3, using: &random) {
      inputs.append(try folder.write(Self.file(&reckoning, number: number, random: &random), to: "\(number).csv"))
    }
    // The first inputs make the store; the last ones are compared.
    let split = Int.random(in: 0..<inputs.count, using: &random)
    let chain: RunOptions.ContextChain = Bool.random(using: &random) ? .one : .three
    var before = RunCounts()
    if split > 0 {
      before = try await run(definition, .import, inputs: Array(inputs[..<split]), store: store) {
        $0.contextChain = chain
        // Without a key, files of few days and places would be refused, because the store has most of their records.
        $0.again = true
      }
      .counts
    }
    let rest = Array(inputs[split...])
    let bytes = try? Data(contentsOf: URL(fileURLWithPath: store))
    let dry = try await run(definition, .validate, inputs: rest, store: store) { $0.again = true }
    #expect(try bytes == nil || Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    let real = try await run(definition, .import, inputs: rest, store: store) {
      $0.contextChain = chain
      $0.again = true
    }
    #expect(dry.counts == real.counts)
    #expect(dry.issues == real.issues)
    #expect(before + real.counts == reckoning.counts)
    #expect(try Self.rows(store) == reckoning.entries)
    #expect(real.counts.isConserved)
  }

  /// What a file replaces depends on what the files before it have replaced.
  @Test(arguments: Randomness.seeds(6, long: 1000))
  func `The counts of a dry run that replaces several files are those of the run`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let store = folder.path("store.sqlite")
    let definition = PipelineDefinition.plain { $0.chunkRows = [1, 7, 1000].randomElement(using: &random) ?? 1 }
    // Parts of the same records, so that files share some, or have those of another.
    let records = (1...12).map { "2020-01-\($0 < 10 ? "0" : "")\($0),P\($0 % 5),\($0 % 5 + 1)\n" }
    func write(_ number: Int) throws -> String {
      let start = Int.random(in: 0..<12, using: &random)
      let chosen = records[start..<Int.random(in: start...12, using: &random)].joined()
      let bad = Bool.random(using: &random) ? "soon,P1,1\n" : ""
      return try folder.write("date,location,rating\n" + chosen + bad, to: "\(number).csv")
    }
    let numbers = Array(0..<Int.random(in: 2...4, using: &random))
    var inputs = try numbers.map(write)
    for input in inputs { _ = try await run(definition, inputs: [input], store: store) { $0.again = true } }
    if Bool.random(using: &random) { inputs.append(try folder.write(try folder.text("0.csv"), to: "other.csv")) }
    for number in numbers where Int.random(in: 0...3, using: &random) > 0 { _ = try write(number) }
    if Bool.random(using: &random) { swap("0.csv", "1.csv", in: folder) }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
    let dry = try await run(definition, .validate, inputs: inputs, store: store) { $0.changedInputs = .replace }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    let real = try await run(definition, inputs: inputs, store: store) { $0.changedInputs = .replace }
    #expect(dry.counts == real.counts)
    #expect(dry.issues == real.issues)
    #expect(dry.failure?.message == real.failure?.message)
    #expect(dry.exitCode == real.exitCode)
  }

  private func swap(_ one: String, _ other: String, in folder: TemporaryFolder) {
    for (from, to) in [(one, "x"), (other, one), ("x", other)] { rename(folder.path(from), folder.path(to)) }
  }

  /// Records of few days and places, so that keys meet; about one in six is bad.
  private static func file(
    _ reckoning: inout Reckoning, number: Int, random: inout SeededGenerator
  ) -> String {
    reckoning.met = []
    // No two files are the same input.
    var text = "date,location,rating,file \(number)\n"
    for _ in 0..<Int.random(in: 0...120, using: &random) {
      let day = Int.random(in: 1...9, using: &random)
      let place = Int.random(in: 0...6, using: &random)
      let rating = Int.random(in: 0...5, using: &random)
      let fields = ["2020-01-0\(day)", place == 0 ? "" : "P\(place)", rating == 0 ? "" : "\(rating)", "x"]
      switch Int.random(in: 0..<24, using: &random) {
      case 0: text += "soon,\(fields[1]),3,x\n"
      case 1: text += "2020-01-01,\(fields[1]),9,x\n"
      case 2: text += "2020-01-01\n"
      case 3: text += "\n"
      default:
        text += fields.joined(separator: ",") + "\n"
        reckoning.take(Entry(day: day, place: place == 0 ? nil : fields[1], rating: rating == 0 ? nil : rating))
        continue
      }
      reckoning.counts.read += 1
      reckoning.counts.rejected += 1
    }
    return text
  }

  private static func rows(_ store: String) throws -> [Entry] {
    let query =
      "SELECT CAST((ZDATE - 599529600) / 86400 AS INTEGER) + 1, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK"
    return try sqlite(store, query).split(separator: "\n").map { line in
      let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      return Entry(day: Int(fields[0]) ?? 0, place: fields[1].isEmpty ? nil : fields[1], rating: Int(fields[2]))
    }
  }
}
