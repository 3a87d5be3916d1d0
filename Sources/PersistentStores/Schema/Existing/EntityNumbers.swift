import ManagedObjectModel

/// The number of each entity of a model in an existing store.
struct EntityNumbers {
  /// By entity name.
  private(set) var numbers: [String: Int] = [:]
  /// The entities without a row in the store.
  private(set) var missing: [String] = []

  /// - Parameter entities: In the order of a new store's numbers.
  init(_ entities: [NSEntityDescription], in layout: StoreLayout) {
    let byName = Dictionary(layout.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in entities {
      guard let name = entity.name, let row = byName[name] else { continue }
      numbers[name] = row.number
    }
    // A store that Apple's framework migrated may list an entity under its previous name. Superentities come first, so
    // their numbers are known.
    let taken = Set(numbers.values)
    var free = Dictionary(
      grouping: layout.entities.filter { !taken.contains($0.number) && !Self.isHistory($0.number) },
      by: \.superNumber)
    for (position, entity) in entities.enumerated() {
      guard let name = entity.name, numbers[name] == nil else { continue }
      let superNumber = entity.superentity?.name.map { numbers[$0] ?? 0 } ?? 0
      let rows = free[superNumber] ?? []
      if let row = rows.first(where: { $0.number == position + 1 }) ?? (rows.count == 1 ? rows.first : nil) {
        numbers[name] = row.number
        free[superNumber] = rows.filter { $0.number != row.number }
      } else {
        missing.append(name)
      }
    }
  }

  /// The numbers that the identities of objects can have.
  private static let allowed = 1...0xFF_FFFF

  /// - Parameter location: The store's location, for messages.
  /// - Throws: `NSError` 134080 for a number that no store gives an entity.
  func check(_ location: String) throws {
    for (name, number) in numbers.sorted(by: { $0.key < $1.key }) where !Self.allowed.contains(number) {
      throw SchemaMatcher.damage(location, "has \(number) as the number (Z_ENT) of \(name)")
    }
  }

  /// The entities of persistent history, which are not part of models.
  static func isHistory(_ number: Int) -> Bool { number >= 16000 }
}
