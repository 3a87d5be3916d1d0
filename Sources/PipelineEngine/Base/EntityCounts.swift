/// What happened to the records of one entity, in a run that fills several.
public struct EntityCounts: Sendable, Hashable, Codable {
  /// The entity's name.
  public var entity: String
  /// What happened to the records.
  public var counts: RunCounts

  /// Makes counts of an entity. The parameters are the properties of the same names.
  public init(entity: String, counts: RunCounts) {
    self.entity = entity
    self.counts = counts
  }
}
