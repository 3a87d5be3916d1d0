/// What an import did with the related objects of one entity.
public struct LinkCounts: Sendable, Hashable, Codable {
  /// The entity of the related objects.
  public var entity: String
  /// Objects that records named and the store did not have.
  public var created = 0
  /// Links that were set from inserted and updated entries.
  public var linked = 0
  /// Names that led to no object and were left out, because the pipeline says so.
  public var leftOut = 0

  public init(entity: String, created: Int = 0, linked: Int = 0, leftOut: Int = 0) {
    self.entity = entity
    self.created = created
    self.linked = linked
    self.leftOut = leftOut
  }

  /// The sums of two lists by entity, in the order of the names.
  static func sum(_ left: [LinkCounts], _ right: [LinkCounts]) -> [LinkCounts] {
    if right.isEmpty { return left }
    var sums: [String: LinkCounts] = [:]
    for part in left + right {
      sums[part.entity, default: LinkCounts(entity: part.entity)].created += part.created
      sums[part.entity]?.linked += part.linked
      sums[part.entity]?.leftOut += part.leftOut
    }
    return sums.values.sorted { $0.entity < $1.entity }
  }
}
