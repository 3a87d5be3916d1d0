/// What a graph of `RulePlayer` has, as plain dictionaries of numbers.
struct RuleReference: Equatable {
  enum Kind: String, CaseIterable { case club = "Club", person = "Person", passport = "Passport", loan = "Loan" }
  /// A rule that a planted error forgets.
  enum Forgotten: String, CaseIterable, Sendable { case deny, least, most, mandatory, formerHolder, member }

  var kinds: [Int: Kind] = [:]
  /// By passport: a passport has one holder, and a person one passport.
  var holder: [Int: Int] = [:]
  /// By club, without an inverse.
  var members: [Int: Set<Int>] = [:]
  /// By person: a club has two to three players, or none.
  var team: [Int: Int] = [:]
  /// By loan. The person may be deleted: the rule is deny.
  var debtor: [Int: Int] = [:]
  var forgotten: Forgotten?

  func numbers(_ kind: Kind) -> [Int] { kinds.filter { $0.value == kind }.keys.sorted() }

  static func keys(_ kind: Kind) -> [String] {
    switch kind {
    case .club: ["members", "players"]
    case .person: ["loans", "passport", "team"]
    case .passport: ["holder"]
    case .loan: ["debtor"]
    }
  }

  /// What `key` of an object leads to, ascending.
  func related(_ number: Int, _ key: String) -> [Int] {
    switch key {
    case "members": (members[number] ?? []).sorted()
    case "players": team.filter { $0.value == number }.keys.sorted()
    case "loans": debtor.filter { $0.value == number }.keys.sorted()
    case "passport": holder.filter { $0.value == number }.keys.sorted()
    case "team": [team[number]].compactMap(\.self)
    case "holder": [holder[number]].compactMap(\.self)
    default: [debtor[number]].compactMap(\.self).filter { kinds[$0] != nil }
    }
  }

  /// The codes of the rules that a save has to refuse, each once.
  var violations: Set<Int> {
    var codes: Set<Int> = []
    if forgotten != .deny, debtor.values.contains(where: { kinds[$0] == nil }) { codes.insert(1600) }
    if forgotten != .mandatory, numbers(.passport).contains(where: { holder[$0] == nil }) { codes.insert(1570) }
    for club in numbers(.club) {
      let count = related(club, "players").count
      if forgotten != .least, count == 1 { codes.insert(1580) }
      if forgotten != .most, count > 3 { codes.insert(1590) }
    }
    return codes
  }

  // MARK: Changing

  mutating func setHolder(_ passport: Int, _ person: Int?) {
    if let person, forgotten != .formerHolder {
      for (other, owner) in holder where owner == person { holder[other] = nil }
    }
    holder[passport] = person
  }

  /// A person is a member of one club: its row has one key for that.
  mutating func setMembers(_ club: Int, _ new: Set<Int>) {
    for other in members.keys where other != club { members[other]?.subtract(new) }
    members[club] = new
  }

  /// - Parameter isStored: Whether the level below has the object. What it leads to counts in the save then.
  mutating func delete(_ number: Int, isStored: Bool) {
    guard let kind = kinds.removeValue(forKey: number) else { return }
    switch kind {
    case .club:
      members[number] = nil
      team = team.filter { $0.value != number }
    case .person:
      for club in members.keys where forgotten != .member { members[club]?.remove(number) }
      team[number] = nil
      if !isStored { debtor = debtor.filter { $0.value != number } }
      for passport in related(number, "passport") { delete(passport, isStored: isStored) }
    case .passport: holder[number] = nil
    case .loan: debtor[number] = nil
    }
  }
}
