import Foundation
@testable import OpenCoreData
import TestSupport
import Testing

/// Plays random changes on a chain of contexts whose model has rules that a save may refuse: the rule deny, mandatory
/// objects and counts. A reference of plain dictionaries says which saves these are.
final class RulePlayer {
  static let xml = """
    <model>
      <entity name="Club">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="members" optional="YES" toMany="YES" destinationEntity="Person"/>
        <relationship name="players" optional="YES" toMany="YES" minCount="2" maxCount="3" destinationEntity="Person" inverseName="team" inverseEntity="Person"/>
      </entity>
      <entity name="Loan">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="debtor" optional="YES" maxCount="1" destinationEntity="Person" inverseName="loans" inverseEntity="Person"/>
      </entity>
      <entity name="Passport">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="holder" maxCount="1" destinationEntity="Person" inverseName="passport" inverseEntity="Person"/>
      </entity>
      <entity name="Person">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="loans" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Loan" inverseName="debtor" inverseEntity="Loan"/>
        <relationship name="passport" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Passport" inverseName="holder" inverseEntity="Passport"/>
        <relationship name="team" optional="YES" maxCount="1" destinationEntity="Club" inverseName="players" inverseEntity="Club"/>
      </entity>
    </model>
    """

  let graph: LinkedGraph
  /// From the context that is changed to the one on the coordinator.
  private let contexts: [NSManagedObjectContext]
  /// What each context has, and at the end what the store has.
  private var references: [RuleReference]
  private var random: SeededGenerator
  private var held: [Int: NSManagedObject] = [:]
  private var lastNumber = 0
  private var log: [String] = []
  /// The codes of the saves that were refused, and 0 for each that was not.
  private(set) var codes: Set<Int> = []

  private var leaf: NSManagedObjectContext { contexts[0] }

  init(seed: UInt64, forgetting: RuleReference.Forgotten? = nil) throws {
    graph = try LinkedGraph(xml: Self.xml, kind: .current)
    random = SeededGenerator(seed: seed)
    var contexts = [graph.context()]
    for _ in 0..<Int.random(in: 0..<3, using: &random) { contexts.insert(graph.context(contexts[0]), at: 0) }
    self.contexts = contexts
    var reference = RuleReference()
    reference.forgotten = forgetting
    references = Array(repeating: reference, count: contexts.count + 1)
  }

  /// - Returns: The first disagreement or error; nil if there is none.
  func play(steps: Int) -> String? {
    do {
      for _ in 0..<steps { if let found = try leaf.performAndWait({ try step() }) { return found } }
      return try leaf.performAndWait { try difference(references[0], leaf) }
    } catch { return "\(error)\(history)" }
  }

  private func step() throws -> String? {
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<5 where references[0].kinds.count < 24: insert()
    case ..<15: try change()
    case 15, 16: try delete()
    case 17..<20: return try save(through: Int.random(in: contexts.indices, using: &random))
    case 20: rollBack()
    case 21:
      log.append("refresh all")
      leaf.refreshAllObjects()
    case 22: held = [:]
    // Comparing reads all; so seldom that most changes are made on what was not read.
    default: return try difference(references[0], leaf)
    }
    return nil
  }

  // MARK: Saving

  private func rollBack() {
    log.append("rollback")
    references[0] = references[1]
    leaf.rollback()
    held = [:]
  }

  private func save(through last: Int) throws -> String? {
    for level in 0...last {
      log.append("save \(level)")
      let expected = references[level].violations
      let found = try code(of: contexts[level])
      codes.formUnion(found)
      if found != (expected.isEmpty ? [0] : expected) {
        return "the save has the codes \(found.sorted()), expected \(expected.sorted())\(history)"
      }
      if !expected.isEmpty {
        // Some go on with what was refused.
        if Bool.random(using: &random) { rollBack() }
        return nil
      }
      references[level + 1] = references[level]
    }
    if last < contexts.count - 1 { return nil }
    let context = graph.context()
    return try context.performAndWait { try difference(references[contexts.count], context) }
  }

  /// The codes with which a save is refused, each once; 0 if it is not.
  private func code(of context: NSManagedObjectContext) throws -> Set<Int> {
    context.performAndWait {
      do {
        try context.save()
        return [0]
      } catch let error as NSError {
        let all = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        return Set((all.isEmpty ? [error] : all).map(\.code))
      }
    }
  }

  // MARK: Changes

  private func insert() {
    lastNumber += 1
    let kinds: [RuleReference.Kind] = [.person, .person, .person, .club, .passport, .loan, .loan]
    let kind = kinds.randomElement(using: &random) ?? .person
    log.append("\(lastNumber) = \(kind.rawValue)")
    references[0].kinds[lastNumber] = kind
    held[lastNumber] = LinkedGraph.make(kind.rawValue, lastNumber, in: leaf)
  }

  private func delete() throws {
    guard let number = references[0].kinds.keys.sorted().randomElement(using: &random) else { return }
    let object = try object(number)
    log.append("delete \(number)")
    references[0].delete(number, isStored: references[1].kinds[number] != nil)
    leaf.delete(object)
    leaf.processPendingChanges()
    held = held.filter { references[0].kinds[$0.key] != nil }
  }

  private func change() throws {
    let people = references[0].numbers(.person)
    let clubs = references[0].numbers(.club)
    guard let person = people.randomElement(using: &random) else { return }
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      guard let passport = references[0].numbers(.passport).randomElement(using: &random) else { return }
      let new = pick(people)
      references[0].setHolder(passport, new)
      try set(passport, "holder", to: new)
    case 2:
      let new = pick(references[0].numbers(.passport))
      for old in references[0].related(person, "passport") { references[0].setHolder(old, nil) }
      if let new { references[0].setHolder(new, person) }
      try set(person, "passport", to: new)
    case 3:
      guard let loan = references[0].numbers(.loan).randomElement(using: &random) else { return }
      let new = pick(people)
      references[0].debtor[loan] = new
      try set(loan, "debtor", to: new)
    case 4:
      let new = pick(clubs)
      references[0].team[person] = new
      try set(person, "team", to: new)
    case 5:
      guard let club = clubs.randomElement(using: &random) else { return }
      let new = Array(people.shuffled(using: &random).prefix(Int.random(in: 0...6, using: &random))).sorted()
      references[0].team = references[0].team.filter { $0.value != club || new.contains($0.key) }
      for player in new { references[0].team[player] = club }
      log.append("\(club).players = \(new)")
      try object(club).setValue(NSSet(array: try new.map(object)), forKey: "players")
    default:
      guard let club = clubs.randomElement(using: &random) else { return }
      try setMembers(club, of: people)
    }
  }

  private func setMembers(_ club: Int, of people: [Int]) throws {
    let new = Set(people.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
    // A row leads to one club. The context does not know of the other ends: they are changed too.
    for other in references[0].numbers(.club) where other != club {
      let left = references[0].related(other, "members").filter { !new.contains($0) }
      if left != references[0].related(other, "members") { try setMembers(other, to: left) }
    }
    references[0].setMembers(club, new)
    try setMembers(club, to: new.sorted())
  }

  private func setMembers(_ club: Int, to members: [Int]) throws {
    log.append("\(club).members = \(members)")
    try object(club).setValue(NSSet(array: try members.map(object)), forKey: "members")
  }

  private func pick(_ numbers: [Int]) -> Int? {
    Int.random(in: 0..<5, using: &random) == 0 ? nil : numbers.randomElement(using: &random)
  }

  private func set(_ number: Int, _ key: String, to other: Int?) throws {
    log.append("\(number).\(key) = \(other.map(String.init) ?? "nil")")
    try object(number).setValue(try other.map(object), forKey: key)
  }

  private func object(_ number: Int) throws -> NSManagedObject {
    if let known = held[number], known.managedObjectContext != nil { return known }
    let kind = try #require(references[0].kinds[number], "\(number)\(history)")
    let found = try LinkedGraph.find(kind.rawValue, number, in: leaf)
    held[number] = found
    return found
  }

  // MARK: Comparing

  private func difference(_ reference: RuleReference, _ context: NSManagedObjectContext) throws -> String? {
    for kind in RuleReference.Kind.allCases {
      let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: kind.rawValue))
      let numbers = found.compactMap { $0.value(forKey: "number") as? Int }.sorted()
      let expected = reference.numbers(kind)
      if numbers != expected { return "there are \(kind) \(numbers), expected \(expected)\(history)" }
      for object in found {
        let number = object.value(forKey: "number") as? Int ?? 0
        for key in RuleReference.keys(kind) {
          let (found, expected) = (LinkedGraph.numbers(object, key), reference.related(number, key))
          if found != expected { return "\(number).\(key) is \(found), expected \(expected)\(history)" }
        }
      }
    }
    return nil
  }

  private var history: String { "\nafter " + log.suffix(60).joined(separator: "; ") }
}
