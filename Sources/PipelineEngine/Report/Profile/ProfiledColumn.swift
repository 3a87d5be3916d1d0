import PersistentStores

/// One attribute of an ``EntryProfiler``: its slot and the counter for its kind.
struct ProfiledColumn: Sendable {
  let attribute: String
  private let kind: EntryProfile.Chart.Kind
  private let slot: Int
  private var empty = 0
  // One of them is set. Not an enumeration: extracting its payload to change it would copy the counter's tables.
  private var months: MonthCounter?
  private var integers: NumberCounter?
  private var texts: TextCounter?

  init(_ attribute: String, _ kind: EntryProfile.Chart.Kind, slot: Int) {
    self.attribute = attribute
    self.kind = kind
    self.slot = slot
    switch kind {
    case .months: months = MonthCounter()
    case .integers: integers = NumberCounter(distinctMax: EntryProfile.valuesMax)
    case .texts: texts = TextCounter(distinctMax: EntryProfile.valuesMax)
    }
  }

  mutating func add(_ batch: ObjectBatch, _ rows: some Collection<Int>) {
    empty +=
      months?.add(batch, slot: slot, rows: rows) ?? integers?.add(batch, slot: slot, rows: rows)
      ?? texts?.add(batch, slot: slot, rows: rows) ?? 0
  }

  /// The counts so far, for display and to continue from.
  var chart: EntryProfile.Chart {
    var chart = EntryProfile.Chart(attribute: attribute, kind: kind, empty: empty)
    if let months = months?.counts {
      chart.counts = months.all.map { .init(MonthCounter.name($0.number), $0.count) }
      chart.other = months.other
    }
    if let integers {
      chart.counts = integers.all.map { .init(String($0.number), $0.count) }
      chart.other = integers.other
    }
    if let texts {
      chart.counts = texts.all.map { .init($0.text, $0.count) }
      chart.other = texts.other
    }
    return chart
  }

  /// Continues from `chart`. Values in it that are not of this column's kind count as `other`.
  mutating func resume(_ chart: EntryProfile.Chart) {
    empty += chart.empty
    addOther(chart.other)
    for count in chart.counts where count.entries > 0 {
      if months != nil, let month = MonthCounter.month(named: count.value) {
        months?.add(month: month, times: count.entries)
      } else if integers != nil, let number = Int64(count.value) {
        integers?.add(number, times: count.entries)
      } else if texts != nil {
        texts?.add(Array(count.value.utf8).span, times: count.entries)
      } else {
        addOther(count.entries)
      }
    }
  }

  private mutating func addOther(_ times: Int) {
    months?.addOther(times)
    integers?.addOther(times)
    texts?.addOther(times)
  }
}

/// Each counts the values of one column and returns the number of rows without one. (`==` on another module's
/// enumeration would be a call for each row.)
extension MonthCounter {
  fileprivate mutating func add(_ batch: ObjectBatch, slot: Int, rows: some Collection<Int>) -> Int {
    let (cells, width) = (batch.cells, batch.slotCount)
    var empty = 0
    for row in rows {
      let cell = cells[row &* width &+ slot]
      if case .real = cell.kind { add(cell.real) } else { empty &+= 1 }
    }
    return empty
  }
}

extension NumberCounter {
  fileprivate mutating func add(_ batch: ObjectBatch, slot: Int, rows: some Collection<Int>) -> Int {
    let (cells, width) = (batch.cells, batch.slotCount)
    var empty = 0
    for row in rows {
      let cell = cells[row &* width &+ slot]
      if case .integer = cell.kind { add(cell.integer) } else { empty &+= 1 }
    }
    return empty
  }
}

extension TextCounter {
  fileprivate mutating func add(_ batch: ObjectBatch, slot: Int, rows: some Collection<Int>) -> Int {
    let (cells, width, arena) = (batch.cells, batch.slotCount, batch.arena)
    let bytes = arena.span
    var empty = 0
    for row in rows {
      let cell = cells[row &* width &+ slot]
      if case .text = cell.kind { add(bytes.extracting(cell.range)) } else { empty &+= 1 }
    }
    return empty
  }
}
