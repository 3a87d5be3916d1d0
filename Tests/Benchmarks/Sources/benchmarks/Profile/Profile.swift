import Foundation

/// What the stages of an import take of the processors' time, by samples of what all threads were doing.
struct Profile {
  private(set) var nanoseconds: [Stage: Double] = [:]
  /// By stage and innermost function; of samples that no rule fits also who called it.
  private var functions: [Stage: [String: Double]] = [:]
  private var stages: [[String]: Stage] = [:]

  var total: Double { nanoseconds.values.reduce(0, +) }

  /// Takes what `perf script` printed: a line for each sample that ends with its length in nanoseconds, then its
  /// functions with their addresses, the innermost first, then an empty line.
  mutating func add(samples text: String, sharedBy rows: Int) {
    var length = 0.0
    var stack: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.isEmpty {
        if !stack.isEmpty { add(stack, length / Double(rows)) }
        stack.removeAll(keepingCapacity: true)
      } else if line.hasPrefix("\t") {
        stack.append(words.count > 1 ? words.dropFirst().joined(separator: " ") : "[unknown]")
      } else {
        length = words.last.flatMap { Double($0) } ?? 0
      }
    }
  }

  private mutating func add(_ stack: [String], _ length: Double) {
    let stage = stages[stack] ?? Stage(of: stack)
    stages[stack] = stage
    nanoseconds[stage, default: 0] += length
    let name = stage == .unknown ? stack.prefix(3).joined(separator: " < ") : stack[0]
    functions[stage, default: [:]][name, default: 0] += length
  }

  /// The functions in which most of a stage's time was spent, as the linker knows them.
  func functions(of stage: Stage, max count: Int) -> [(name: String, nanoseconds: Double)] {
    let sorted = (functions[stage] ?? [:]).sorted { ($0.value, $0.key) > ($1.value, $1.key) }
    return sorted.prefix(count).map { (name: $0.key, nanoseconds: $0.value) }
  }

  func nanoseconds(of side: Stage.Side) -> Double {
    nanoseconds.filter { $0.key.side == side }.values.reduce(0, +)
  }
}
