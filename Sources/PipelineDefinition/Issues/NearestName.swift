/// Finds what a mistyped name was probably meant to be.
package enum NearestName {
  /// The candidate fewest edits away from `name`, if that is at most a third of its length (one at least), letter
  /// case aside; among equals the first.
  package static func of(_ name: String, in candidates: some Sequence<String>) -> String? {
    let typed = Array(name.lowercased().unicodeScalars)
    let editsMax = max(1, typed.count / 3)
    var best: (name: String, edits: Int)?
    for candidate in candidates {
      let edits = distance(typed, Array(candidate.lowercased().unicodeScalars))
      if edits <= editsMax, edits < best?.edits ?? .max { best = (candidate, edits) }
    }
    return best?.name
  }

  /// `; did you mean 'x'?`, or nothing when no candidate is near.
  package static func hint(for name: String, in candidates: some Sequence<String>) -> String {
    of(name, in: candidates).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// Edits (insert, delete, replace, swap of neighbours) between two texts: the optimal string alignment distance.
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
