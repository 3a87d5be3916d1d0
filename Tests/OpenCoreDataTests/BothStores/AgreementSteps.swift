import Foundation
import TestSupport

/// What a random fetch asks for.
struct AgreementFetch: Sendable {
  enum Kind: CaseIterable { case objects, identities, dictionaries, distinct, groups, count, walk }

  var kind = Kind.objects
  var entityName = "Session"
  var predicate: (format: String, arguments: [Value])?
  var sortKeys: [(name: String, isAscending: Bool)] = []
  var limit = 0
  var offset = 0
  var batchSize = 0
  var includesPendingChanges = true
  var includesSubentities = true

  enum Value: Sendable {
    case text(String), texts([String]), number(Int), real(Double), date(Double)

    var argument: Any {
      switch self {
      case .text(let text): text
      case .texts(let texts): texts
      case .number(let number): number
      case .real(let number): number
      case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
      }
    }
  }
}

/// One step of a random sequence. Numbers choose among what there is when the step is taken.
enum AgreementStep: Sendable {
  case insert(entityName: String, values: AgreementValues)
  case insertMany([AgreementValues])
  case change(Int, AgreementValues)
  case delete(Int)
  case save
  case rollBack
  case refresh(Int, mergesChanges: Bool)
  case refreshAll
  case reset
  case obtainIDs
  case fetch(AgreementFetch)
  case pin(Bool)
  case batchUpdate(AgreementFetch, rating: Int?)
  case batchDelete(AgreementFetch)
  case batchInsert([AgreementValues])
  case transaction(commits: Bool)
  case detectConflicts(Int)
  case relate(AgreementLink)
  /// The context merges what another one has saved last.
  case mergeSave(of: Int)
}

/// A change of what sessions and clubs lead to.
enum AgreementLink: Sendable {
  case insertClub
  case deleteClub(Int)
  /// Nil takes the end away.
  case set(Int, String, to: Int?)
  case add(Int, String, Int)
  case remove(Int, String, Int)
  case removeAll(Int, String)
  /// Turns the order of a club's board around.
  case reverseBoard(Int)

  /// The relationships of a session that lead to one object, and those of a club. A session has friends too.
  static let ones = ["club", "boardOf", "guestOf", "next", "previous"]
  static let manyOfClub = ["sessions", "board", "guests"]
}

/// Values to set; nil leaves an attribute as it is, and `.some(nil)` sets it to nil.
struct AgreementValues: Sendable {
  var place: String??
  var rating: Int??
  var date: Double??
  var height: Double??

  var dictionary: [String: Any] {
    var result: [String: Any] = [:]
    if let place { result["place"] = place ?? NSNull() }
    if let rating { result["rating"] = rating ?? NSNull() }
    if let date { result["date"] = date.map { Date(timeIntervalSinceReferenceDate: $0) } ?? NSNull() }
    if let height { result["height"] = height ?? NSNull() }
    return result
  }
}

/// Draws steps.
struct AgreementGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static let places = [
    "Pipe", "pipe", "Pípe", "PIPE", "é", "e\u{301}", "", "Jaws", "日本", "🌊", "Bells", "a%b", "a_b",
    "'\\\"{,}",
  ]
  /// Texts with characters that have a meaning in SQL, or in the text form of an array.
  private static let quoted = ["'", "\"", "\\", ",", "{}", "NULL", "a b", "日", "%"]
  static let dates = [-86_400, 0, 0.25, 3600, 1e9]
  static let heights = [-1, 0, 0.1, 0.5, 1, 2.5, 1e300]

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }

  private mutating func one<Element>(of elements: [Element]) -> Element { elements[number(0..<elements.count)] }

  mutating func values(isNew: Bool = false) -> AgreementValues {
    var values = AgreementValues()
    if isNew || chance(50) { values.place = chance(10) ? .some(nil) : one(of: Self.places) + (chance(30) ? "2" : "") }
    if isNew || chance(50) { values.rating = chance(10) ? .some(nil) : number(0..<6) }
    if chance(30) { values.date = chance(20) ? .some(nil) : one(of: Self.dates) }
    if chance(30) { values.height = chance(20) ? .some(nil) : one(of: Self.heights) }
    return values
  }

  private mutating func rows() -> [AgreementValues] { (0..<number(0..<5)).map { _ in values(isNew: true) } }

  private mutating func link() -> AgreementLink {
    let (choice, other) = (number(0..<1000), number(0..<1000))
    // Often these two, so that lists have several members.
    let many = chance(60) ? one(of: ["friends", "board"]) : one(of: ["sessions", "guests"])
    switch number(0..<100) {
    case ..<6: return .insertClub
    case ..<9: return .deleteClub(choice)
    case ..<36: return .set(choice, one(of: AgreementLink.ones), to: chance(20) ? nil : other)
    case ..<70: return .add(choice, many, other)
    case ..<86: return .remove(choice, many, other)
    case ..<88: return .removeAll(choice, many)
    default: return .reverseBoard(choice)
    }
  }

  mutating func step() -> AgreementStep {
    if chance(30) { return .relate(link()) }
    let choice = number(0..<1000)
    switch choice {
    case ..<130: return .insert(entityName: chance(70) ? "Session" : "Lesson", values: values(isNew: true))
    case ..<150: return .insertMany(rows())
    case ..<330: return .change(choice, values())
    case ..<380: return .delete(choice)
    case ..<550: return .save
    case ..<580: return .rollBack
    case ..<630: return .refresh(choice, mergesChanges: chance(50))
    case ..<650: return .refreshAll
    case ..<660: return .reset
    case ..<680: return .obtainIDs
    case ..<700: return .pin(chance(50))
    case ..<720: return .batchUpdate(fetch(.objects), rating: chance(80) ? number(0..<6) : nil)
    case ..<730: return .batchDelete(fetch(.objects))
    case ..<745: return .batchInsert(rows())
    case ..<755: return .transaction(commits: chance(50))
    case ..<770: return .detectConflicts(choice)
    case ..<800: return .mergeSave(of: number(0..<AgreementPlayer.contextCount))
    default: return .fetch(fetch(one(of: AgreementFetch.Kind.allCases)))
    }
  }

  private mutating func fetch(_ kind: AgreementFetch.Kind) -> AgreementFetch {
    var fetch = AgreementFetch(kind: kind)
    if chance(20) { fetch.entityName = "Lesson" }
    if chance(75) { fetch.predicate = predicate(depth: 2) }
    if kind == .groups || kind == .distinct {
      if chance(60) { fetch.sortKeys = [(one(of: ["place", "rating"]), chance(50))] }
    } else {
      for name in ["rating", "place", "date", "height"] where chance(30) { fetch.sortKeys.append((name, chance(50))) }
      fetch.sortKeys.shuffle(using: &random)
    }
    if chance(40) { fetch.limit = number(1..<6) }
    if chance(40) { fetch.offset = number(1..<6) }
    if chance(20) { fetch.batchSize = number(1..<4) }
    fetch.includesPendingChanges = chance(80)
    fetch.includesSubentities = chance(80)
    return fetch
  }

  private mutating func predicate(depth: Int) -> (format: String, arguments: [AgreementFetch.Value]) {
    if depth > 0, chance(40) {
      let left = predicate(depth: depth - 1)
      if chance(25) { return ("NOT (\(left.format))", left.arguments) }
      let right = predicate(depth: depth - 1)
      return (
        "(\(left.format)) \(one(of: ["AND", "OR"])) (\(right.format))", left.arguments + right.arguments
      )
    }
    let relation = one(of: ["==", "!=", "<", "<=", ">", ">="])
    let options = one(of: ["", "[c]", "[d]", "[cd]"])
    switch number(0..<11) {
    case 9:
      // A server takes very many values as one.
      let others = (0..<number(0..<60)).map { "\(one(of: Self.quoted))\($0)" }
      return ("place IN\(options) %@", [.texts((others + [one(of: Self.places), ""]).shuffled(using: &random))])
    case 10:
      return (
        "place MATCHES\(one(of: ["", "[c]"])) %@", [.text(one(of: ["[Pp]ipe2?", ".*2", "a[%_]b.*", "", "(é|J).*"]))]
      )
    case 0: return ("rating \(relation) %@", [.number(number(0..<6))])
    case 1: return ("place \(relation)\(options) %@", [.text(one(of: Self.places))])
    case 2:
      let operation = one(of: ["BEGINSWITH", "ENDSWITH", "CONTAINS"])
      return ("place \(operation)\(options) %@", [.text(one(of: ["p", "P", "e", "é", "2", "%", "_", "本"]))])
    case 3: return ("place LIKE\(options) %@", [.text(one(of: ["*p*", "?ipe", "*2", "a?b", "*"]))])
    case 4: return ("rating BETWEEN {%@, %@}", [.number(number(0..<3)), .number(number(2..<6))])
    case 5: return ("\(one(of: ["place", "rating", "date", "height"])) \(one(of: ["==", "!="])) nil", [])
    case 6: return ("date \(relation) %@", [.date(one(of: Self.dates))])
    case 7: return ("height \(relation) \(one(of: ["rating", "%@"]))", [.real(one(of: Self.heights))])
    default: return ("place IN\(options) {%@, %@}", [.text(one(of: Self.places)), .text(one(of: Self.places))])
    }
  }
}
