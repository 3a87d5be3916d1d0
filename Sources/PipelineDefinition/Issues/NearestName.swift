/// Suggests the intended name for a mistyped one.
package enum NearestName {
  /// The candidate with the smallest edit distance from `name`, ignoring letter case, if the distance is at most a
  /// third of the name's length (at least one); the first among equals.
  package static func of(_ name: String, in candidates: some Sequence<String>) -> String? {
    let typed = Array(name.lowercased().unicodeScalars)
    let editsMax = max(1, typed.count / 3)
    var best: (name: String, edits: Int)?
    for candidate in candidates {
      let name = Array(candidate.lowercased().unicodeScalars)
      // At least as many edits as the lengths differ: the time must not grow with the square of a long label.
      guard abs(typed.count - name.count) <= editsMax else { continue }
      let edits = distance(typed, name)
      if edits <= editsMax, edits < best?.edits ?? .max { best = (candidate, edits) }
    }
    return best?.name
  }

  /// `; did you mean 'x'?`, or an empty text if no candidate is near.
  package static func hint(for name: String, in candidates: some Sequence<String>) -> String {
    of(name, in: candidates).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// The optimal string alignment distance of two texts: the number of insertions, deletions, replacements and swaps
  /// of neighbours.
  static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in 1...left.count {
      var row = [i]
      for j in 1...right.count {
        var edits = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1))
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          edits = min(edits, beforeLast[j - 2] + 1)
        }
        row.append(edits)
      }
      (beforeLast, last) = (last, row)
    }
    return last[right.count]
  }
}
