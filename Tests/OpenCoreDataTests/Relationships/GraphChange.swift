/// A change of one end of a relationship, or a new object, as one context has made it.
enum GraphChange: Equatable {
  case made(Int, GraphReference.Kind)
  /// A to-one relationship of an object.
  case one(key: String, Int, Int?)
  /// A member of a to-many relationship; of friends the lower number is the owner.
  case pair(key: String, owner: Int, member: Int, isAdded: Bool)

  /// Whether both are about the same value.
  func concerns(_ other: GraphChange) -> Bool {
    switch (self, other) {
    case (.one(let key, let number, _), .one(let otherKey, let otherNumber, _)):
      key == otherKey && number == otherNumber
    case (.pair(let key, let owner, let member, _), .pair(let otherKey, let otherOwner, let otherMember, _)):
      key == otherKey && owner == otherOwner && member == otherMember
    default: false
    }
  }
}

extension GraphReference {
  private static let oneKeys = ["partner", "parent", "note", "box"]

  /// What leads from this state to another one.
  func changes(to other: GraphReference) -> [GraphChange] {
    var changes: [GraphChange] = []
    for number in other.nodes {
      for key in Self.oneKeys where related(number, key) != other.related(number, key) {
        changes.append(.one(key: key, number, other.related(number, key).first))
      }
    }
    for (key, owners) in [("friends", other.nodes), ("tags", other.nodes), ("ranked", other.numbers(.tag))] {
      for owner in owners {
        let (old, new) = (related(owner, key), other.related(owner, key))
        for (members, isAdded) in [(old.filter { !new.contains($0) }, false), (new.filter { !old.contains($0) }, true)]
        {
          for member in members where key != "friends" || owner <= member {
            changes.append(.pair(key: key, owner: owner, member: member, isAdded: isAdded))
          }
        }
      }
    }
    return changes
  }

  /// This state with the changes that a context has made elsewhere: what it has set wins, and both ends agree.
  func applying(_ changes: [GraphChange]) -> GraphReference {
    var result = self
    var partners: [Int: Int?] = [:]
    for change in changes {
      switch change {
      case .made(let number, let kind): result.kinds[number] = kind
      case .one("partner", let number, let other): partners[number] = .some(other)
      case .one("parent", let number, let other): result.parent[number] = other
      case .one("note", let number, let other): result.note[number] = other
      case .one(_, let number, let box):
        result.setBox(number, nil)
        result.setBox(number, box)
      case .pair(let key, let owner, let member, let isAdded): result.set(key, of: owner, member, isAdded: isAdded)
      }
    }
    for (number, other) in partners { result.partner[number] = other }
    for (number, other) in result.partner where partners[number] == nil {
      if let chosen = partners[other], chosen != number { result.partner[number] = nil }
    }
    return result
  }

  private mutating func set(_ key: String, of owner: Int, _ member: Int, isAdded: Bool) {
    func changed(_ set: Set<Int>?, _ number: Int) -> Set<Int> {
      isAdded ? (set ?? []).union([number]) : (set ?? []).subtracting([number])
    }
    switch key {
    case "friends":
      friends[owner] = changed(friends[owner], member)
      friends[member] = changed(friends[member], owner)
    case "tags": tags[owner] = changed(tags[owner], member)
    default:
      // What is added is at the end, wherever it was.
      ranked[owner] = (ranked[owner] ?? []).filter { $0 != member } + (isAdded ? [member] : [])
    }
  }

  /// The lists that have an object which the changes add to them, as `items 3`.
  func listsWithMembers(of changes: [GraphChange]) -> Set<String> {
    var found: Set<String> = []
    for change in changes {
      switch change {
      case .one("box", let number, let box?) where items[box]?.contains(number) == true: found.insert("items \(box)")
      case .pair("ranked", let owner, let member, true) where ranked[owner]?.contains(member) == true:
        found.insert("ranked \(owner)")
      default: break
      }
    }
    return found
  }

  /// Sets a to-one relationship to `other`, or adds or removes `far`.
  mutating func toggle(_ node: Int, _ key: String, to other: Int?, far: Int?) {
    switch key {
    case "partner": setPartner(node, other)
    case "parent": parent[node] = other
    case "note": note[node] = other
    case "box": setBox(node, other)
    default:
      guard let far else { return }
      let (owner, member) = key == "ranked" ? (far, node) : (node, far)
      set(key, of: owner, member, isAdded: !related(owner, key).contains(member))
    }
  }
}
