/// What a graph of `LinkedGraph` has, as plain dictionaries of numbers: no faults, no changes, no laziness.
struct GraphReference: Equatable {
  enum Kind: String { case box = "Box", node = "Node", leaf = "Leaf", tag = "Tag" }

  var kinds: [Int: Kind] = [:]
  var partner: [Int: Int] = [:]
  /// By child.
  var parent: [Int: Int] = [:]
  var note: [Int: Int] = [:]
  var friends: [Int: Set<Int>] = [:]
  /// By node.
  var tags: [Int: Set<Int>] = [:]
  /// By tag.
  var ranked: [Int: [Int]] = [:]
  /// By box.
  var items: [Int: [Int]] = [:]

  /// A planted error: an object that moves to another box stays in the former one too.
  var forgetsFormerBox = false

  func numbers(_ kinds: Kind...) -> [Int] { self.kinds.filter { kinds.contains($0.value) }.keys.sorted() }
  var nodes: [Int] { numbers(.node, .leaf) }

  // MARK: Reading

  /// What `key` of an object leads to: in order where it has one, otherwise ascending.
  func related(_ number: Int, _ key: String) -> [Int] {
    switch key {
    case "partner": [partner[number]].compactMap(\.self)
    case "parent": [parent[number]].compactMap(\.self)
    case "note": [note[number]].compactMap(\.self)
    case "children": parent.filter { $0.value == number }.keys.sorted()
    case "friends": (friends[number] ?? []).sorted()
    case "tags": (tags[number] ?? []).sorted()
    case "nodes": tags.filter { $0.value.contains(number) }.keys.sorted()
    case "ranked": ranked[number] ?? []
    case "rankings": ranked.filter { $0.value.contains(number) }.keys.sorted()
    case "items": items[number] ?? []
    case "box": items.filter { $0.value.contains(number) }.keys.sorted()
    default: []
    }
  }

  /// All that every object has.
  var shown: [String: [Int]] {
    var shown: [String: [Int]] = [:]
    for (number, kind) in kinds {
      for key in ["there"] + Self.keys(kind) { shown["\(number).\(key)"] = related(number, key) }
    }
    return shown
  }

  static func keys(_ kind: Kind) -> [String] {
    switch kind {
    case .box: ["items"]
    case .tag: ["nodes", "ranked"]
    case .node, .leaf: ["partner", "parent", "note", "children", "friends", "tags", "rankings", "box"]
    }
  }

  // MARK: Changing

  mutating func setPartner(_ number: Int, _ new: Int?) {
    guard partner[number] != new else { return }
    if let old = partner[number] { partner[old] = nil }
    if let new {
      if let former = partner[new] { partner[former] = nil }
      partner[new] = number
    }
    partner[number] = new
  }

  mutating func setBox(_ number: Int, _ new: Int?) {
    let old = items.first { $0.value.contains(number) }?.key
    guard old != new else { return }
    if let old, !forgetsFormerBox { items[old]?.removeAll { $0 == number } }
    if let new { items[new, default: []].append(number) }
  }

  mutating func setItems(_ box: Int, _ new: [Int]) {
    for number in items[box] ?? [] where !new.contains(number) { setBox(number, nil) }
    for number in new { setBox(number, box) }
    items[box] = new
  }

  mutating func setFriends(_ number: Int, _ new: Set<Int>) {
    for other in friends[number] ?? [] where !new.contains(other) { friends[other]?.remove(number) }
    for other in new { friends[other, default: []].insert(number) }
    friends[number] = new
  }

  mutating func delete(_ number: Int) {
    guard let kind = kinds.removeValue(forKey: number) else { return }
    let children = related(number, "children")
    switch kind {
    case .box: items[number] = nil
    case .tag:
      for node in tags.keys { tags[node]?.remove(number) }
      ranked[number] = nil
      // Nothing knows of notes: the test clears them first.
      note = note.filter { $0.value != number }
    case .node, .leaf:
      setPartner(number, nil)
      setBox(number, nil)
      setFriends(number, [])
      friends[number] = nil
      tags[number] = nil
      note[number] = nil
      parent[number] = nil
      for tag in ranked.keys { ranked[tag]?.removeAll { $0 == number } }
    }
    for child in children {
      parent[child] = nil
      delete(child)
    }
  }
}
