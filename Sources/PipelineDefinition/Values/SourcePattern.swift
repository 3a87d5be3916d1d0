/// The alternatives of a source's pattern, counted before the system expands them: each group doubles the work or more.
package enum SourcePattern {
  /// How many paths the groups `{a,b}` of a pattern may stand for.
  package static let alternativesMax = 10_000
  /// How many groups a pattern may have: the system expands one inside the other.
  package static let groupsMax = 100

  /// Why a pattern is not expanded; nil if it is.
  package static func problem(of pattern: String) -> String? {
    let (paths, groups) = count(pattern)
    if groups > groupsMax { return "has \(groups) groups {…}, and at most \(groupsMax) are expanded; split it" }
    guard paths > alternativesMax else { return nil }
    return "stands for more than \(alternativesMax) paths; name fewer alternatives in {…}, or use * where any name fits"
  }

  /// The number of paths that the groups of a pattern stand for, and the number of groups. A group has the sum of its
  /// alternatives; what follows one another is multiplied.
  private static func count(_ pattern: String) -> (paths: Int, groups: Int) {
    /// An open group: what stood before it, the alternatives that are complete, and the one that is read.
    var open: [(before: Int, sum: Int)] = []
    var product = 1
    var groups = 0
    var isEscaped = false
    for byte in pattern.utf8 {
      defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped }
      if isEscaped { continue }
      switch byte {
      case UInt8(ascii: "{"):
        groups += 1
        open.append((product, 0))
        product = 1
      case UInt8(ascii: ",") where !open.isEmpty:
        open[open.count - 1].sum = bounded(open[open.count - 1].sum + product)
        product = 1
      case UInt8(ascii: "}"):
        guard let (before, sum) = open.popLast() else { continue }
        product = bounded(before * bounded(sum + product))
      default: break
      }
    }
    // A group without an end is text.
    for (before, sum) in open.reversed() { product = bounded(before * bounded(sum + product)) }
    return (product, groups)
  }

  /// Large enough to be refused, small enough to be multiplied.
  private static func bounded(_ number: Int) -> Int { min(number, alternativesMax + 1) }
}
