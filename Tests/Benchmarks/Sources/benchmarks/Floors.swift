/// A promise about speed or memory, as a ratio where that is possible: seconds say more of the machine than of us.
struct Floor: Sendable {
  enum Bound: Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  /// What became of a floor.
  struct Verdict {
    let claim: String
    let value: Double?
    let bound: Bound

    var isKept: Bool {
      switch (value, bound) {
      case (nil, _): false
      case (let value?, .atLeast(let least)): value >= least
      case (let value?, .atMost(let most)): value <= most
      }
    }
  }

  let claim: String
  let bound: Bound
  /// Whether it is left out, instead of broken, when it was not measured.
  var isOptional = false
  /// Nil when what it takes was not measured.
  let value: @Sendable (Results) -> Double?

  static let all = [
    Floor(claim: "import, rows/s as a share of the limit's", bound: .atLeast(0.5)) {
      $0.time(of: .limitImport, over: .importPlain)
    },
    Floor(claim: "import, time of three contexts over that of one", bound: .atMost(1.2)) {
      $0.time(of: .importPlain, over: .importOneContext)
    },
    Floor(claim: "import, plain or gzip, peak memory in MB", bound: .atMost(96)) { results in
      results.peakMegabytes(.importPlain).flatMap { plain in results.peakMegabytes(.importGzip).map { max(plain, $0) } }
    },
    Floor(claim: "our C limit's rows/s as a share of the yardstick's", bound: .atLeast(0.95), isOptional: true) {
      $0.time(of: .yardstickImport, over: .limitImport)
    },
    Floor(claim: "our C cursor's rows/s as a share of the yardstick's", bound: .atLeast(0.95), isOptional: true) {
      $0.time(of: .yardstickExport, over: .limitExport)
    },
  ]
}

extension Results {
  var verdicts: [Floor.Verdict] {
    Floor.all.compactMap { floor in
      let value = floor.value(self)
      return value == nil && floor.isOptional ? nil : .init(claim: floor.claim, value: value, bound: floor.bound)
    }
  }
}
