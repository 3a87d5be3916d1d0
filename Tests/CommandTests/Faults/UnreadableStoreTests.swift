import Foundation
import Glibc
import TestSupport
import Testing

/// A disk that can't be read any more from some read on. Properties of objects can't throw; a command that reads them
/// must end with a status and a message nevertheless.
@Suite(.seeded) struct UnreadableStoreTests {
  @Test(arguments: [RunKind.keyed, .newest, .linked])
  func `An update fails with a message, whatever read is the first to fail`(_ kind: RunKind) throws {
    try tryReads(of: kind, all: true)
  }

  @Test(arguments: RunKind.readers)
  func `Every command fails with a message, or shows what it shows otherwise`(_ kind: RunKind) throws {
    try tryReads(of: kind, all: TestLength.isLong)
  }

  private func tryReads(of kind: RunKind, all: Bool) throws {
    let stage = try FaultStage(kind)
    try stage.reset()
    var fault = Fault(.nothing, calls: [.read])
    fault.nameEnd = kind.name == RunKind.seed.name ? "/seed" : "/s"
    let (undisturbed, counted) = try stage.run(fault)
    let count = counted.counted
    var random = kind.generator
    let numbers =
      all
      ? Array(1...count)
      : (0..<TestLength.rounds(6, long: count)).map { _ in
        Int.random(in: 1...count, using: &random)
      }
    var failed = 0
    for number in numbers {
      (fault.action, fault.number, fault.isLasting) = (.fail(EIO), number, true)
      try stage.reset()
      let (output, report) = try stage.run(fault)
      if report.fired == 0 { continue }
      let place = "\(kind.name), read \(number) of \(count) (\(report.call))"
      if output.status == stage.status {
        #expect(output.text == undisturbed.text, "\(place)")
        continue
      }
      failed += 1
      #expect([74, 75].contains(output.status), "\(place): status \(output.status): \(output.messages)")
      #expect(!output.messages.isEmpty && !output.messages.contains("damaged"), "\(place): \(output.messages)")
      expectNone(try stage.repetitionProblems())
    }
    #expect(failed > 0, "no read of \(kind.name) failed")
    Figures.add("reads that fail: \(kind.name)", failed, suite: Self.self)
    print("\(kind.name): \(failed) failed of \(numbers.count) reads, seed \(Randomness.seed)")
  }
}

extension RunKind {
  static let newest = RunKind(
    name: "keyed update by the newest", arguments: load("newest.json")
  ) { folder in
    try keyed.prepare(folder)
    let text = definitions["k.json", default: ""]
    let changed = text.replacing(#""update""#, with: #"{"policy": "keepNewest", "by": "date"}"#)
      .replacing(#"["date", "location"]"#, with: #"["location"]"#)
    try #require(changed != text)
    try folder.write(changed, to: "newest.json")
    try folder.write(records(30..<90, rating: 5).replacing("2014", with: "2015"), to: "log.csv")
  }

  /// Sessions that lead to other spots and boards than before.
  static let linked = RunKind(name: "linked update", arguments: load("l.json")) { folder in
    try LinkedSample.prepare(folder)
    try folder.write(LinkedSample.pipeline(chunkRows: 20, key: true), to: "l.json")
    for (name, shift) in [("a.csv", 0), ("log.csv", 3)] {
      let lines = (0..<60).map { number in
        let day = String(format: "%02d-%02d", number / 28 + 1, number % 28 + 1)
        let spot = (number + shift) % 7
        return "2014-\(day),Spot \(spot),US,Board \((number + shift) % 5);Board \(number % 4),\(number % 5 + 1)"
      }
      try folder.write("date,spot,country,boards,rating\n" + lines.joined(separator: "\n") + "\n", to: name)
    }
    try tool(["import", "a.csv", "--store", "s", "--pipeline", "l.json", "-q"], in: folder)
  }

  private static let linkedUndo = RunKind(
    name: "linked undo", arguments: ["undo", "s", "log.csv", "-y", "-q"], repeated: [65, 66], mayOnlyRead: true
  ) { folder in
    try linked.prepare(folder)
    try tool(linked.arguments, in: folder)
  }

  private static func reading(
    _ name: String, _ arguments: [String], of kind: RunKind = export, repeated: Set<Int32> = []
  ) -> RunKind {
    RunKind(name: name, arguments: arguments, repeated: repeated, mayOnlyRead: true, prepare: kind.prepare)
  }

  static let readers = [
    undo, linkedUndo, export, increment, edit, seed, replacement,
    reading("delete", ["delete", "s", "7", "9", "-y", "-q"], repeated: [66]),
    reading("linked delete", ["delete", "s", "2", "--entity", "Spot", "-y", "-q"], of: linked, repeated: [66]),
    reading("linked edit", ["edit", "2", "--store", "s", "--entity", "Session", "--set", "spot=1", "-y"], of: linked),
    reading("linked show", ["show", "s", "1", "--entity", "Spot"], of: linked),
    reading("show", ["show", "s", "7"]),
    reading("list", ["list", "s"]),
    reading("linked list", ["list", "s", "--entity", "Session"], of: linked),
    reading("difference", ["diff", "log.csv", "--store", "s", "--key", "date,location"], of: keyed),
    reading("linked export", ["export", "--store", "s", "--pipeline", "l.json", "-o", "out.csv", "-q"], of: linked),
    reading("verify", ["verify", "s"]),
    reading("inspect", ["inspect", "s"]),
    reading("history", ["history", "s"]),
    reading("dry run", load("k.json") + ["--dry-run"], of: keyed),
    reading("linked dry run", load("l.json") + ["--dry-run"], of: linked),
  ]
}
