import PersistentStores

/// Finds the first of the pairs of an object by its key.
///
/// The objects of a table come in the order of their keys, and so do new ones after a save: they are found by search, in
/// 12 bytes for each. Others are in a table.
struct PairIndex {
  /// The keys of one store and root entity that came in ascending order.
  private struct Run {
    let scope: UInt64
    private(set) var numbers: [UInt64] = []
    /// -1 for a key that was removed.
    private(set) var pairs: [Int32] = []

    init(scope: UInt64) { self.scope = scope }

    mutating func append(_ number: UInt64, _ pair: Int32) -> Bool {
      if let last = numbers.last, number <= last { return false }
      numbers.append(number)
      pairs.append(pair)
      return true
    }

    mutating func set(_ pair: Int32, at position: Int) { pairs[position] = pair }

    func position(of number: UInt64) -> Int? {
      guard let first = numbers.first, let last = numbers.last, number >= first, number <= last else { return nil }
      // Mostly no key is missing.
      let guess = number - first
      if guess < numbers.count, numbers[Int(guess)] == number { return Int(guess) }
      var (low, high) = (0, numbers.count - 1)
      while low < high {
        let middle = (low + high) / 2
        if numbers[middle] < number { low = middle + 1 } else { high = middle }
      }
      return numbers[low] == number ? low : nil
    }
  }

  private var runs: [Run] = []
  private var others: [ObjectKey: Int32] = [:]

  subscript(key: ObjectKey) -> Int32? {
    for run in runs.indices where runs[run].scope == key.scope {
      if let position = runs[run].position(of: key.number) {
        return runs[run].pairs[position] < 0 ? nil : runs[run].pairs[position]
      }
    }
    return others.isEmpty ? nil : others[key]
  }

  /// Adds a key, or gives it another first pair.
  mutating func set(_ pair: Int32, for key: ObjectKey) {
    let run = runs.firstIndex { $0.scope == key.scope } ?? runs.count
    if run == runs.count { runs.append(Run(scope: key.scope)) }
    if runs[run].append(key.number, pair) { return }
    if let position = runs[run].position(of: key.number) { return runs[run].set(pair, at: position) }
    others[key] = pair
  }

  mutating func remove(_ key: ObjectKey) -> Int32? {
    guard let found = self[key] else { return nil }
    if others.removeValue(forKey: key) == nil { set(-1, for: key) }
    return found
  }
}
