extension RunSummary {
  /// Adds a statement to the note.
  mutating func add(note text: String) { note = note.map { "\($0). \(text)" } ?? text }

  /// The seed that an import has made.
  public struct Seed: Sendable, Hashable, Codable {
    /// The store's UUID.
    public var uuid: String
    /// The files to ship, the store itself first.
    public var files: [String]

    /// Makes a description of a seed.
    ///
    /// - Parameters:
    ///   - uuid: The UUID of the seed's store.
    ///   - files: The files to ship, the store itself first.
    public init(uuid: String, files: [String]) {
      self.uuid = uuid
      self.files = files
    }
  }
}
