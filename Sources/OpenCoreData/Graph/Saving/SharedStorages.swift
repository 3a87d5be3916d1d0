/// Makes objects for rows whose values a child has packed, and leaves them packed.
struct SharedStorages {
  private let context: NSManagedObjectContext
  private var last: (rows: SharedRows, storage: BatchStorage)?

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// The object with `id`; a new one has the values of `base`, or is a fault without values.
  mutating func object(with id: NSManagedObjectID, _ base: BaseRow) -> NSManagedObject {
    guard let (rows, row) = base.packed, let key = id.storeKey, base.version != BaseRow.unknownVersion,
      !context.graph.insertions.hasPackedLinks, id.entity.layout.transientSlots.isEmpty
    else { return context.object(ofRow: id) }
    if context.registeredObject(for: id) != nil { return context.object(ofRow: id) }
    if last?.rows !== rows { last = (rows, BatchStorage(context, sharing: rows)) }
    guard let storage = last?.storage else { return context.object(ofRow: id) }
    let object = id.entity.objectClass.walked(
      of: id.entity, in: storage, key: key, row: row, version: base.version)
    object.assignedID = id
    context.graph.add(object, as: id.key)
    return object
  }
}
