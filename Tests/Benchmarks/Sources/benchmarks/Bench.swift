import Foundation

/// The order in which things are timed.
struct Bench {
  let folder: BenchmarkFolder
  private let options: Options
  let rows: Int
  private let contenders: [Contender]

  /// Makes the inputs, and the stores that exports start from.
  init(_ options: Options) throws {
    self.options = options
    folder = try BenchmarkFolder()
    Self.tell("making the inputs")
    let inputs = try Inputs(options, folder)
    rows = inputs.rows
    let source = try Contenders(folder, inputs)
    var all = try source.limits() + source.ours()
    if options.includesYardstick { all += try source.yardsticks() }
    if options.includesPeers { all += try source.peers() }
    if options.groups.contains(.keyed) { all += try KeyedImports(source).contenders() }
    if options.groups.contains(.linked) { all += try LinkedImports(source).contenders() }
    if !Set(options.groups).isDisjoint(with: [.objects, .library, .subquery, .migration, .cascade]) {
      all += try LibraryRuns(source).contenders()
    }
    if options.groups.contains(.history) { all.append(try source.trackedImport()) }
    if options.groups.contains(.start) { all += try ColdStarts(source).contenders() }
    if options.groups.contains(.server) { all += try ServerRuns(source).contenders() }
    if options.groups.contains(.long) { all += try LongRuns(source).contenders() }
    contenders = Subject.allCases.compactMap { subject in
      all.first { $0.subject == subject && !Set($0.groups).isDisjoint(with: options.groups) }
    }
  }

  func run() throws -> Results {
    var results = Results(rows: rows, rounds: options.rounds, groups: options.groups, contenders: contenders)
    // The round before the first warms the disk's cache and is not counted. Contenders take turns, so that a slow
    // minute of the machine is everybody's, and every other round runs backwards, so that none always has the same
    // one before it.
    for round in 0...options.rounds {
      Self.tell(round == 0 ? "warming up" : "round \(round) of \(options.rounds)")
      for contender in round.isMultiple(of: 2) ? contenders : contenders.reversed() {
        if contender.roundsMax < max(round, 1) || (round == 0 && contender.roundsMax < options.rounds) { continue }
        let measurement = try measure(contender)
        if round > 0 { results.note(measurement, of: contender.subject, round: round) }
      }
    }
    return results
  }

  /// More than an import takes, with the store and its log in the page cache.
  static let megabytesTouched = 256

  private func measure(_ contender: Contender) throws -> Measurement {
    let printed = folder.output("printed")
    let measure = try folder.program("measure")
    let measurements = try (0..<contender.runsPerRound).map { _ in
      contender.outputs.forEach(folder.remove)
      try contender.prepare()
      // What the one before left for the disk to write is not this one's affair.
      sync()
      // Nor is what a virtual machine's host takes to find memory for it: up to 14 µs a page.
      try Tool.run([measure, "--touch", String(Self.megabytesTouched)])
      let measurement = try Measurement(of: contender.command, output: printed, in: folder)
      do {
        try contender.check(printed)
      } catch {
        throw BenchmarkFailure("\(contender.subject.rawValue): \(error)")
      }
      return measurement
    }
    contender.outputs.forEach(folder.remove)
    return measurements.sorted { $0.seconds < $1.seconds }[measurements.count / 2]
  }

  private static func tell(_ text: String) { FileHandle.standardError.write(Data("benchmarks: \(text)\n".utf8)) }
}
