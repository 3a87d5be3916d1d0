/// What a store of `PolicyPlayer` has, as plain dictionaries of numbers.
struct PolicyReference: Equatable {
  static let nodes = Array(1...6)
  static let tags = Array(11...13)
  static let attributes = ["first", "second"]

  /// By attribute, then by node.
  var values = ["first": [Int: Int](), "second": [:]]
  /// By child.
  var parent: [Int: Int] = [:]
  /// Both ends.
  var partner: [Int: Int] = [:]
  /// By node.
  var tags: [Int: Set<Int>] = [:]

  mutating func setPartner(_ node: Int, _ new: Int?) {
    for one in [node, new].compactMap(\.self) {
      if let former = partner[one] { partner[former] = nil }
      partner[one] = nil
    }
    guard let new else { return }
    partner[node] = new
    partner[new] = node
  }

  /// The tags that a node or a tag is linked with elsewhere.
  private func changedTags(_ other: Self) -> [(node: Int, tag: Int)] {
    Self.nodes.flatMap { node in
      (tags[node] ?? []).symmetricDifference(other.tags[node] ?? []).map { (node, $0) }
    }
  }

  private func changedParents(_ other: Self) -> [Int] { Self.nodes.filter { parent[$0] != other.parent[$0] } }
  private func changedPartners(_ other: Self) -> [Int] { Self.nodes.filter { partner[$0] != other.partner[$0] } }

  /// The objects whose rows have another version after a save that leads from this state to another one.
  func touched(by other: Self) -> Set<Int> {
    var touched = Set(changedPartners(other))
    for key in Self.attributes {
      touched.formUnion(Self.nodes.filter { values[key]?[$0] != other.values[key]?[$0] })
    }
    for child in changedParents(other) {
      touched.formUnion([child, parent[child], other.parent[child]].compactMap(\.self))
    }
    for (node, tag) in changedTags(other) { touched.formUnion([node, tag]) }
    return touched
  }

  // MARK: Policies

  /// What the store has after a context that has read this state and changed it to `own` has saved under a policy, where
  /// others have made it `theirs` before; nil if the save is refused.
  func merged(own: Self, theirs: Self, _ policy: Policy) -> Self? {
    let conflicts = touched(by: own).intersection(touched(by: theirs))
    if policy == .error, !conflicts.isEmpty { return nil }
    return merged(own, theirs, policy: policy, conflicts: conflicts)
  }

  private func merged(_ own: Self, _ theirs: Self, policy: Policy, conflicts: Set<Int>) -> Self {
    var result = theirs
    for node in Self.nodes {
      let (wins, isInConflict) = (policy.contextWins, conflicts.contains(node))
      for key in Self.attributes {
        let (before, mine) = (values[key]?[node], own.values[key]?[node])
        let isMine =
          policy == .overwrite && isInConflict
          || mine != before && (wins || (policy == .rollback ? !isInConflict : theirs.values[key]?[node] == before))
        if isMine { result.values[key]?[node] = mine }
      }
      let ends = [node, parent[node], own.parent[node]].compactMap(\.self)
      let isMine =
        policy == .overwrite && isInConflict
        || own.parent[node] != parent[node]
          && (wins || (policy == .rollback ? conflicts.isDisjoint(with: ends) : theirs.parent[node] == parent[node]))
      if isMine { result.parent[node] = own.parent[node] }
    }
    for (node, tag) in changedTags(own) where policy != .rollback || conflicts.isDisjoint(with: [node, tag]) {
      if own.tags[node]?.contains(tag) == true {
        result.tags[node, default: []].insert(tag)
      } else {
        result.tags[node]?.remove(tag)
      }
    }
    result.mergePartners(before: self, own, theirs, policy: policy, conflicts: conflicts)
    return result
  }

  private mutating func mergePartners(
    before: Self, _ own: Self, _ theirs: Self, policy: Policy, conflicts: Set<Int>
  ) {
    let mine = before.changedPartners(own)
    for node in mine where partner[node] != own.partner[node] { setPartner(node, own.partner[node]) }
    for node in Self.nodes where conflicts.contains(node) {
      let isTheirs =
        switch policy {
        case .rollback: mine.contains(node)
        case .storeTrump: mine.contains(node) && before.partner[node] != theirs.partner[node]
        default: false
        }
      if isTheirs, partner[node] != theirs.partner[node] { setPartner(node, theirs.partner[node]) }
      if policy == .overwrite, partner[node] != own.partner[node] { setPartner(node, own.partner[node]) }
    }
  }
}
