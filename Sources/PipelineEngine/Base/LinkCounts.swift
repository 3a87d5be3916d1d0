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
  /// How often a record gave an object other values, because the pipeline says so.
  public var updated = 0

  /// Makes counts of an entity's related objects. The parameters are the properties of the same names.
  public init(entity: String, created: Int = 0, linked: Int = 0, leftOut: Int = 0, updated: Int = 0) {
    self.entity = entity
    self.created = created
    self.linked = linked
    self.leftOut = leftOut
    self.updated = updated
  }

  /// Decodes counts. Earlier versions of the program wrote them without `updated`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entity = try container.decode(String.self, forKey: .entity)
    created = try container.decode(Int.self, forKey: .created)
    linked = try container.decode(Int.self, forKey: .linked)
    leftOut = try container.decode(Int.self, forKey: .leftOut)
    updated = try container.decodeIfPresent(Int.self, forKey: .updated) ?? 0
  }

  /// The sums of two lists by entity, in the order of the names.
  static func sum(_ left: [LinkCounts], _ right: [LinkCounts]) -> [LinkCounts] {
    if right.isEmpty { return left }
    var sums: [String: LinkCounts] = [:]
    for part in left + right {
      sums[part.entity, default: LinkCounts(entity: part.entity)].created += part.created
      sums[part.entity]?.linked += part.linked
      sums[part.entity]?.leftOut += part.leftOut
      sums[part.entity]?.updated += part.updated
    }
    return sums.values.sorted { $0.entity < $1.entity }
  }
}
