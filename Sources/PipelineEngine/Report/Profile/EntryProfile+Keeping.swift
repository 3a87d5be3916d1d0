extension EntryProfile {
  /// This profile combined with that of another input, within the same bounds.
  func merged(with other: EntryProfile) -> EntryProfile {
    EntryProfile(
      charts: charts.map { chart in
        other.charts.first { $0.attribute == chart.attribute }.map(chart.merged) ?? chart
      })
  }

  // MARK: Checkpoints

  /// The profile as a checkpoint stores it, in a format that is fast to write and read: each text is preceded by its
  /// length in bytes.
  var keptText: String {
    var text = ""
    func add(_ part: String) { text += "\(part.utf8.count):\(part)" }
    for chart in charts {
      let numbers = [chart.empty, chart.other, chart.counts.count].map(String.init)
      for part in [chart.attribute, chart.kind.rawValue] + numbers { add(part) }
      for count in chart.counts {
        add(count.value)
        add(String(count.entries))
      }
    }
    return text
  }

  /// Parses `keptText`; nil for anything else.
  init?(keptText: String) {
    var rest = Substring(keptText).utf8[...]
    func next() -> String? {
      guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), let length = Int(Substring(rest[..<colon])),
        let end = rest.index(rest.index(after: colon), offsetBy: length, limitedBy: rest.endIndex)
      else { return nil }
      defer { rest = rest[end...] }
      return String(rest[rest.index(after: colon)..<end])
    }
    func number() -> Int? { next().flatMap { Int($0) } }
    charts = []
    while !rest.isEmpty {
      guard let attribute = next(), let kind = next().flatMap(Chart.Kind.init), let empty = number(),
        let other = number(), let count = number()
      else { return nil }
      var chart = Chart(attribute: attribute, kind: kind, empty: empty, other: other)
      for _ in 0..<count {
        guard let value = next(), let entries = number() else { return nil }
        chart.counts.append(Chart.Count(value, entries))
      }
      charts.append(chart)
    }
  }
}

extension EntryProfile.Chart {
  fileprivate func merged(with later: EntryProfile.Chart) -> EntryProfile.Chart {
    var entries: [String: Int] = [:]
    var order: [String] = []
    for count in counts + later.counts {
      if entries[count.value] == nil { order.append(count.value) }
      entries[count.value, default: 0] += count.entries
    }
    let countMax = kind == .months ? EntryProfile.monthsMax : EntryProfile.valuesMax
    var merged = self
    merged.empty += later.empty
    merged.other += later.other + order.dropFirst(countMax).reduce(0) { $0 + (entries[$1] ?? 0) }
    merged.counts = order.prefix(countMax).map { EntryProfile.Chart.Count($0, entries[$0] ?? 0) }
    switch kind {
    case .months: merged.counts.sort { $0.value < $1.value }
    case .integers: merged.counts.sort { (Int($0.value) ?? 0) < (Int($1.value) ?? 0) }
    case .texts: merged.counts.sort { ($1.entries, $0.value) < ($0.entries, $1.value) }
    }
    return merged
  }
}
