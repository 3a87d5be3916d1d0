/// All measurements of one run of the benchmark.
struct Results {
  /// One line of the table.
  struct Line {
    let subject: Subject
    let rows: Int?
    let seconds: Double
    let cpuSeconds: Double
    let peakMegabytes: Double
    /// Its speed as a share of the limit's.
    let shareOfLimit: Double?
    /// Its time as a multiple of ours; for as many rows, where there are rows.
    let timesOurs: Double?
  }

  /// The size of the input that all but few groups have.
  let rows: Int
  let rounds: Int
  let groups: [Group]
  private let contenders: [Contender]
  private var measurements: [Subject: [Int: Measurement]] = [:]

  init(rows: Int, rounds: Int, groups: [Group], contenders: [Contender]) {
    self.rows = rows
    self.rounds = rounds
    self.groups = groups
    self.contenders = contenders
  }

  mutating func note(_ measurement: Measurement, of subject: Subject, round: Int) {
    measurements[subject, default: [:]][round] = measurement
  }

  /// The time of one subject as a multiple of another's, round by round, since what runs side by side shares the
  /// state of the machine. Where both have rows, the times are those for as many rows.
  func time(of subject: Subject, over other: Subject) -> Series? {
    var share = 1.0
    if let mine = rows(of: subject), let others = rows(of: other) { share = Double(others) / Double(mine) }
    return pairs(subject, with: other) { $0.seconds / $1.seconds * share }
  }

  /// The speed of one subject as a share of another's.
  func speed(of subject: Subject, against other: Subject) -> Series? { time(of: other, over: subject) }

  /// How many milliseconds one subject takes more than another.
  func milliseconds(of subject: Subject, beyond other: Subject) -> Series? {
    pairs(subject, with: other) { ($0.seconds - $1.seconds) * 1000 }
  }

  func milliseconds(of subject: Subject) -> Series? {
    measurements[subject].flatMap { Series($0.values.map { $0.seconds * 1000 }) }
  }

  /// Microseconds of processor time, of all threads, for each row.
  func processorMicroseconds(ofRowsOf subject: Subject) -> Series? {
    guard let rows = rows(of: subject) else { return nil }
    return measurements[subject].flatMap { Series($0.values.map { $0.cpuSeconds * 1e6 / Double(rows) }) }
  }

  /// The greatest of all rounds, since that is what has to be there.
  func peakMegabytes(_ subject: Subject) -> Series? {
    (measurements[subject]?.values.map(\.peakMegabytes).max()).flatMap { Series([$0]) }
  }

  func peak(of subject: Subject, over other: Subject) -> Series? {
    guard let mine = peakMegabytes(subject), let others = peakMegabytes(other) else { return nil }
    return Series([mine.median / others.median])
  }

  func lines(of group: Group) -> [Line] {
    contenders.filter { $0.groups.contains(group) }.compactMap { contender in
      let subject = contender.subject
      guard let values = measurements[subject]?.values, let peak = peakMegabytes(subject),
        let seconds = Series(values.map(\.seconds)), let cpuSeconds = Series(values.map(\.cpuSeconds))
      else { return nil }
      return Line(
        subject: subject, rows: contender.rows, seconds: seconds.median, cpuSeconds: cpuSeconds.median,
        peakMegabytes: peak.median, shareOfLimit: group.limit.flatMap { speed(of: subject, against: $0)?.median },
        timesOurs: time(of: subject, over: group.ours)?.median)
    }
  }

  private func rows(of subject: Subject) -> Int? { contenders.first { $0.subject == subject }?.rows }

  private func pairs(
    _ subject: Subject, with other: Subject, _ value: (Measurement, Measurement) -> Double
  ) -> Series? {
    guard let mine = measurements[subject], let others = measurements[other] else { return nil }
    return Series(mine.compactMap { round, measurement in others[round].map { value(measurement, $0) } })
  }
}

/// A figure of several rounds.
struct Series {
  private let sorted: [Double]

  /// Nil where there are no values.
  init?(_ values: [Double]) {
    guard !values.isEmpty else { return nil }
    sorted = values.sorted()
  }

  var median: Double { (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2 }

  /// Half of how far the middle half of the values lies apart, as a share of the median; 0 for a single one.
  var noise: Double {
    guard median != 0 else { return 0 }
    let quarter = sorted.count / 4
    return (sorted[sorted.count - 1 - quarter] - sorted[quarter]) / 2 / median.magnitude
  }
}
