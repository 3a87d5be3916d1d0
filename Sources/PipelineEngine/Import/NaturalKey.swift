import ManagedObjectModel
import OpenCoreData

/// Attributes whose values distinguish the objects of an entity, so that files can name them.
enum NaturalKey {
  /// The types whose values mean the same in every file.
  private static let types: Set<ColumnType> = [.text, .integer16, .integer32, .integer64, .uuid, .date]
  /// The most attributes whose pairs are tried.
  private static let pairedMax = 8

  /// Finds the first of: the uniqueness constraints of the model, single attributes, pairs of attributes. All of an
  /// entity's objects must have a value for a single attribute, and no two the same values.
  ///
  /// - Parameter isSingle: Whether only a single attribute will do, whose values are joined in one field.
  /// - Returns: Nil if there is none.
  static func find(
    of entity: NSEntityDescription, isSingle: Bool, in context: NSManagedObjectContext
  ) throws -> [String]? {
    let known = entity.fillableTypes
    let names = entity.attributeSlots.map(\.name).filter { known[$0].map(types.contains) ?? false }
    let constraints = entity.uniquenessConstraintNames.filter { $0.allSatisfy(names.contains) }
    let first = (constraints + names.map { [$0] }).filter { !isSingle || $0.count == 1 }
    if let found = try unique(of: first, entity, areJoined: isSingle, in: context) { return found }
    if isSingle { return nil }
    let paired = names.prefix(pairedMax)
    let pairs = paired.indices.flatMap { index in paired[(index + 1)...].map { [paired[index], $0] } }
    return try unique(of: pairs, entity, areJoined: false, in: context)
  }

  /// Whether an import reads the values again from a field that joins them.
  private static func canBeJoined(_ batch: ObjectBatch, slot: Int) -> Bool {
    (0..<batch.count).allSatisfy { row in
      let cell = batch.cell(row: row, slot: slot)
      guard cell.kind == .text else { return true }
      let bytes = Array(batch.bytes(of: cell))
      let trimmed = bytes.span.trimmedRange
      return trimmed.count == bytes.count && !trimmed.isEmpty && !bytes.contains(UInt8(ascii: ";"))
    }
  }

  /// The first of the candidates that no two objects share.
  private static func unique(
    of candidates: [[String]], _ entity: NSEntityDescription, areJoined: Bool, in context: NSManagedObjectContext
  ) throws -> [String]? {
    var seen = candidates.map { _ in Set<KeyDigest>() }
    var left = Set(candidates.indices)
    if left.isEmpty { return nil }
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    try context.performAndWait {
      try context.walk(request, attributes: Set(candidates.joined())) { batch, _ in
        for index in left {
          var digester = RowDigester()
          digester.keySlots = candidates[index].compactMap { batch.entity.slot(named: $0) }
          let isUnique = digester.digests(of: batch).keys.allSatisfy { $0 != .none && seen[index].insert($0).inserted }
          let isReadable = !areJoined || digester.keySlots.allSatisfy { canBeJoined(batch, slot: $0) }
          if !isUnique || !isReadable { left.remove(index) }
        }
        return !left.isEmpty
      }
    }
    return left.min().map { candidates[$0] }
  }
}
