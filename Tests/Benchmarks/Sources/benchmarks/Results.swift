/// All measurements of one run of the benchmark.
struct Results {
  /// One line of the table.
  struct Line {
    let subject: Subject
    let group: Group
    let rows: Int?
    let seconds: Double
    let cpuSeconds: Double
    let peakMegabytes: Double
    /// Its speed as a share of the limit's.
    let shareOfLimit: Double?
    /// Its time as a multiple of ours.
    let timesOurs: Double?
  }

  let rows: Int
  let rounds: Int
  private var order: [(subject: Subject, group: Group, rows: Int?)] = []
  private var measurements: [Subject: [Int: Measurement]] = [:]

  init(rows: Int, rounds: Int) {
    self.rows = rows
    self.rounds = rounds
  }

  mutating func add(_ contender: Contender) { order.append((contender.subject, contender.group, contender.rows)) }

  mutating func note(_ measurement: Measurement, of subject: Subject, round: Int) {
    measurements[subject, default: [:]][round] = measurement
  }

  /// The time of one subject as a multiple of another's: the median over the rounds that both took part in, since
  /// what runs side by side shares the state of the machine.
  func time(of subject: Subject, over other: Subject) -> Double? {
    guard let mine = measurements[subject], let others = measurements[other] else { return nil }
    return Self.median(mine.compactMap { round, measurement in others[round].map { measurement.seconds / $0.seconds } })
  }

  func peakMegabytes(_ subject: Subject) -> Double? { measurements[subject]?.values.map(\.peakMegabytes).max() }

  var groups: [Group] { Group.allCases.filter { group in order.contains { $0.group == group } } }

  func lines(of group: Group) -> [Line] {
    order.filter { $0.group == group }.compactMap { entry in
      guard let values = measurements[entry.subject]?.values, let peak = peakMegabytes(entry.subject),
        let seconds = Self.median(values.map(\.seconds)), let cpuSeconds = Self.median(values.map(\.cpuSeconds))
      else { return nil }
      return Line(
        subject: entry.subject, group: group, rows: entry.rows, seconds: seconds, cpuSeconds: cpuSeconds,
        peakMegabytes: peak, shareOfLimit: group.limit.flatMap { time(of: $0, over: entry.subject) },
        timesOurs: time(of: entry.subject, over: group.ours))
    }
  }

  static func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }
}
