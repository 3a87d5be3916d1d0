import Foundation

/// What the floors' figures were when they were accepted, kept next to the benchmark: a floor says what was
/// promised, these say what has been reached.
struct StoredRatios: Codable {
  struct Ratio: Codable {
    let value: Double
    /// See `Series.noise`.
    let noise: Double
  }

  /// A figure that is clearly worse than it was.
  struct Loss: CustomStringConvertible {
    let claim: String
    let group: Group
    let now: Double
    let before: Ratio
    /// As a share of what it was, and how much of that counts as chance.
    let share: Double
    let noise: Double

    var description: String {
      """
      WORSE \(claim): \(Report.text(now, digits: 3)), \(Report.text(before.value, digits: 3)) when it was stored: \
      \(Self.percent(share)) worse, of which \(Self.percent(StoredRatios.tolerance)) are tolerated and \
      \(Self.percent(noise)) may be the machine's noise (--only \(group.rawValue) --rounds 9 measures it again)
      """
    }

    private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
  }

  static let file = BenchmarkFolder.repository.appending(path: "Tests/Benchmarks/ratios.json")
  static let tolerance = 0.15

  /// Records of the input; figures of another input can't be compared.
  private(set) var rows = 0
  private(set) var date = ""
  private(set) var machine: [String] = []
  private var ratios: [String: Ratio] = [:]

  /// - Throws: `BenchmarkFailure` when there are none, or none that can be read.
  static func read() throws -> StoredRatios {
    guard let data = try? Data(contentsOf: file) else {
      throw BenchmarkFailure("\(file.path) is missing; 'make bench ARGS=--store-ratios' writes it")
    }
    do {
      return try JSONDecoder().decode(Self.self, from: data)
    } catch {
      throw BenchmarkFailure("\(file.path) can't be read (\(error)); 'make bench ARGS=--store-ratios' writes it anew")
    }
  }

  /// Replaces what was stored by what was measured; what was not measured stays, if it is of the same input.
  static func store(_ results: Results, machine: Machine) throws {
    var stored = (try? read()) ?? StoredRatios()
    if stored.rows != results.rows { stored.ratios = [:] }
    stored.rows = results.rows
    stored.date = Report.today
    stored.machine = machine.lines
    for verdict in results.verdicts {
      guard let value = verdict.value else { continue }
      stored.ratios[verdict.floor.claim] = Ratio(value: rounded(value.median), noise: rounded(value.noise))
    }
    // Floors come and go.
    stored.ratios = stored.ratios.filter { claim, _ in Floor.all.contains { $0.claim == claim } }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(stored) + Data("\n".utf8)).write(to: file, options: .atomic)
  }

  /// What got clearly worse: by more than is tolerated and more than the noise of both measurements explains.
  func losses(_ results: Results) -> [Loss] {
    results.verdicts.compactMap { verdict in
      guard let now = verdict.value, let before = ratios[verdict.floor.claim], before.value > 0 else { return nil }
      let gain = (now.median - before.value) / before.value
      let share =
        switch verdict.floor.bound {
        case .atLeast: -gain
        case .atMost: gain
        }
      let noise = now.noise + before.noise
      guard share > Self.tolerance + noise else { return nil }
      return Loss(
        claim: verdict.floor.claim, group: verdict.floor.group, now: now.median, before: before, share: share,
        noise: noise)
    }
  }

  /// What to tell people, line by line.
  func comparison(with results: Results, _ machine: Machine) -> [String] {
    let losses = losses(results)
    let unknown = results.verdicts.map(\.floor.claim).filter { ratios[$0] == nil }
    var lines = ["Compared with the figures that were stored on \(date) (\(self.machine.joined(separator: ", "))):"]
    lines += unknown.map { "NEW \($0): nothing is stored; --store-ratios stores it" }
    lines += losses.map(\.description)
    lines += results.verdicts.filter { ($0.value?.noise ?? 0) > Self.tolerance }.map { verdict in
      "NOISY \(verdict.floor.claim): the rounds lie too far apart to judge by; measure on a quiet machine"
    }
    if losses.isEmpty { return lines + ["SAME, within \(Int(Self.tolerance * 100)) % and the noise"] }
    lines.append(
      "Find the change that did it. If it is meant to be so, --store-ratios takes the new figures for granted.")
    if machine.lines != self.machine { lines.append("Mind that the machine or its programs are others now.") }
    return lines
  }

  private static func rounded(_ number: Double) -> Double { (number * 10_000).rounded() / 10_000 }
}
