/// The characters inside numbers: before the fraction, and between groups of three digits.
package struct NumberMarks: Sendable, Hashable {
  package var decimal: String
  package var group: String?

  package init(decimal: String = ".", group: String? = nil) {
    self.decimal = decimal
    self.group = group
  }

  /// Guesses the marks from all fields that are numbers, also those with a unit.
  static func guess(_ cells: some Sequence<[UInt8]>) -> Finding<NumberMarks> {
    var counts: [NumberForm.Reading: Int] = [:]
    var examples: [NumberForm.Reading: String] = [:]
    for bytes in cells {
      for form in forms(bytes) {
        guard let reading = form.reading, reading != .whole else { continue }
        counts[reading, default: 0] += 1
        if examples[reading] == nil { examples[reading] = bytes.text }
      }
    }
    let usual = NumberMarks()
    if counts.isEmpty { return Finding(usual, confidence: 1, evidence: "no number has a fraction or groups of digits") }
    let comma = UInt8(ascii: ","), point = UInt8(ascii: ".")
    func decimals(_ mark: UInt8) -> Int {
      counts.reduce(0) { sum, pair in
        if case .decimal(mark, _) = pair.key { sum + pair.value } else { sum }
      }
    }
    let (commas, points) = (decimals(comma), decimals(point))
    var groups: [UInt8: Int] = [:]
    for (reading, count) in counts {
      if case .decimal(_, let group?) = reading { groups[group, default: 0] += count }
      if case .grouped(let group) = reading { groups[group, default: 0] += count }
    }
    let group = groups.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    let shown = quoted(examples.values.sorted(), limit: 3)
    if commas > 0, points > 0 {
      let isComma = commas >= points
      let share = Double(max(commas, points)) / Double(commas + points)
      return Finding(
        NumberMarks(decimal: isComma ? "," : ".", group: nil), confidence: share >= 0.95 ? 0.8 : 0.4,
        evidence: "\(commas) numbers have a comma before the fraction and \(points) a point: \(shown)",
        choices: ["\"decimalChar\": \",\"", "\"decimalChar\": \".\""])
    }
    let either = counts.keys.compactMap { reading in
      if case .either(let mark) = reading { mark } else { nil }
    }
    return marks(commas: commas, points: points, group: group, either: either, shown: shown)
  }

  private static func marks(
    commas: Int, points: Int, group: UInt8?, either: [UInt8], shown: String
  ) -> Finding<NumberMarks> {
    func text(_ mark: UInt8) -> String { String(Character(Unicode.Scalar(mark))) }
    let comma = UInt8(ascii: ","), point = UInt8(ascii: ".")
    if commas + points > 0 {
      let decimal = commas > 0 ? comma : point
      let separator = group ?? either.first { $0 != decimal }
      return Finding(
        NumberMarks(decimal: text(decimal), group: separator == decimal ? nil : separator.map(text)),
        confidence: group == decimal ? 0.4 : 0.97,
        evidence:
          "\(counted(commas + points, "number")) with a \(commas > 0 ? "comma" : "point") before the fraction, such as \(shown)"
      )
    }
    if let group {
      return Finding(
        NumberMarks(decimal: group == comma ? "." : group == point ? "," : ".", group: text(group)), confidence: 0.9,
        evidence: "numbers have groups of three digits, such as \(shown)")
    }
    let mark = either.first ?? point
    return Finding(
      NumberMarks(decimal: mark == comma ? "," : "."), confidence: 0.5,
      evidence: "numbers such as \(shown) have three digits after the only mark, which may separate thousands",
      choices: ["\"decimalChar\": \"\(text(mark))\"", "\"groupChar\": \"\(text(mark))\""])
  }

  private static func forms(_ bytes: [UInt8]) -> [NumberForm] {
    if let number = NumberForm(bytes[...]), number.length == bytes.count { return [number] }
    guard DateLook.kind(bytes) == nil, let quantity = QuantityForm(bytes) else { return [] }
    return [quantity.first] + (quantity.second.map { [$0] } ?? [])
  }
}
