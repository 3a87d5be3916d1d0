import Foundation

/// The difference between two lists, complete enough that it turns a copy of the old one into the new one.
///
/// An index is a rank among all objects of a list. These steps lead to the new list: remove deleted and moved objects,
/// remove sections, insert sections, then insert inserted and moved objects at their new index, in order.
struct ResultsChanges {
  /// From the last to the first.
  private(set) var deletedSections: [Int] = []
  private(set) var insertedSections: [Int] = []
  /// From the last to the first.
  private(set) var deletions: [Int] = []
  private(set) var insertions: [Int] = []
  private(set) var moves: [(old: Int, new: Int)] = []
  private(set) var updates: [(old: Int, new: Int)] = []

  var isEmpty: Bool {
    deletedSections.isEmpty && insertedSections.isEmpty && deletions.isEmpty && insertions.isEmpty && moves.isEmpty
      && updates.isEmpty
  }

  /// The origin of an object of the new list.
  struct Origin {
    /// Its index in the old list; nil for a new object.
    let rank: Int?
    /// Whether it was changed.
    let isTouched: Bool
    /// Whether its order relative to the other objects with this flag is known to be unchanged.
    let keepsOrder: Bool
  }

  /// Compares two lists; `origins` has the origin of each object of `new`, in order.
  init(from old: ResultsList, to new: ResultsList, origins: [Origin]) {
    let kept = keptSections(old, new)
    let oldSections = old.sectionNumbers
    var gone = Array(repeating: true, count: old.objects.count)
    for (number, section) in new.sections.enumerated() {
      var residents: [(rank: Int, index: Int)] = []
      for index in section.rows {
        guard let rank = origins[index].rank else {
          insertions.append(index)
          continue
        }
        gone[rank] = false
        if oldSections[rank] == kept[number] {
          residents.append((rank, index))
        } else {
          moves.append((rank, index))
        }
      }
      let stays = Self.staying(residents.map { ($0.rank, origins[$0.index].keepsOrder) })
      for (resident, stays) in zip(residents, stays) {
        if !stays {
          moves.append((resident.rank, resident.index))
        } else if origins[resident.index].isTouched {
          updates.append((resident.rank, resident.index))
        }
      }
    }
    deletions = gone.indices.reversed().filter { gone[$0] }
    moves.sort { $0.new < $1.new }
    updates.sort { $0.old < $1.old }
  }

  /// For each section of the new list its number in the old one, if it existed and need not change its order. The other
  /// sections are reported as deleted and inserted.
  private mutating func keptSections(_ old: ResultsList, _ new: ResultsList) -> [Int?] {
    let numbers = Dictionary(old.sections.enumerated().map { ($1.name, $0) }) { first, _ in first }
    let known = new.sections.enumerated().compactMap { index, section in
      numbers[section.name].map { (new: index, old: $0) }
    }
    var kept: [Int?] = Array(repeating: nil, count: new.sections.count)
    for (section, stays) in zip(known, Self.staying(known.map { ($0.old, false) })) where stays {
      kept[section.new] = section.old
    }
    let keptOld = Set(kept.compactMap { $0 })
    deletedSections = old.sections.indices.reversed().filter { !keptOld.contains($0) }
    insertedSections = kept.indices.filter { kept[$0] == nil }
    return kept
  }

  /// Which elements of a list may stay where they are, so that as few as possible move: the longest ascending
  /// subsequence of old ranks that contains all that keep their order, which ascend.
  static func staying(_ elements: [(rank: Int, keepsOrder: Bool)]) -> [Bool] {
    var result = Array(repeating: false, count: elements.count)
    var (below, gap) = (-1, [Int]())
    func closeGap(_ above: Int) {
      let candidates = gap.filter { elements[$0].rank > below && elements[$0].rank < above }
      for index in longestAscent(candidates.map { elements[$0].rank }) { result[candidates[index]] = true }
      gap = []
    }
    for (index, element) in elements.enumerated() {
      guard element.keepsOrder else {
        gap.append(index)
        continue
      }
      closeGap(element.rank)
      result[index] = true
      below = element.rank
    }
    closeGap(.max)
    return result
  }

  /// The indices of a longest ascending subsequence of distinct numbers (patience sorting).
  private static func longestAscent(_ numbers: [Int]) -> [Int] {
    /// For each length, where the subsequence of that length with the smallest end ends; and the predecessor of each
    /// number.
    var ends: [Int] = []
    var before: [Int] = []
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      before.append(low > 0 ? ends[low - 1] : -1)
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var result: [Int] = []
    var next = ends.last ?? -1
    while next >= 0 {
      result.append(next)
      next = before[next]
    }
    return result.reversed()
  }
}
