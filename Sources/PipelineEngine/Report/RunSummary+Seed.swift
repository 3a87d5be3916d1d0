extension RunSummary {
  /// The seed that an import has made.
  public struct Seed: Sendable, Hashable, Codable {
    /// The store's UUID.
    public var uuid: String
    /// The files to ship, the store itself first.
    public var files: [String]

    public init(uuid: String, files: [String]) {
      self.uuid = uuid
      self.files = files
    }
  }
}
