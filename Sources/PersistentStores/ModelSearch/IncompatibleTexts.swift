import Foundation
import ManagedObjectModel

/// What is known of versions that do not fit a store: entities whose hashes differ from the store's, as texts of the
/// model's source. A hash depends on the text of the entity and of those that it inherits from, so a version in which an
/// entity without a superentity has the same text does not fit either, and need not be parsed.
struct IncompatibleTexts {
  private var texts: [String: Set<Data>] = [:]

  /// Whether the version certainly has an entity that is not compatible.
  func exclude(_ version: URL) -> Bool {
    guard !texts.isEmpty, let source = Self.source(of: version) else { return false }
    return texts.contains { name, known in Self.text(of: name, in: source).map(known.contains) == true }
  }

  /// Notes the entities of a version that was parsed, by name, whose hashes are not those of the store.
  mutating func note(_ version: URL, _ model: NSManagedObjectModel, changed: [String]) {
    guard !changed.isEmpty, let source = Self.source(of: version) else { return }
    let entities = model.entitiesByName
    for name in changed {
      guard let entity = entities[name], entity.superentity == nil, entity.hasExactVersionHash,
        let text = Self.text(of: name, in: source)
      else { continue }
      texts[name, default: []].insert(text)
    }
  }

  /// The XML of a version; nil for compiled models, and for XML with comments or declarations, which Xcode does not write.
  private static func source(of version: URL) -> Data? {
    guard let text = FileManager.default.contents(atPath: version.appendingPathComponent("contents").path),
      text.range(of: Data("<!".utf8)) == nil
    else { return nil }
    return text
  }

  /// The entity from its tag to its end, if it is written as Xcode does and has no superentity. No value contains a "<".
  private static func text(of name: String, in source: Data) -> Data? {
    guard let start = source.range(of: Data("<entity name=\"\(name)\"".utf8)),
      let child = source.range(of: Data("<".utf8), in: start.upperBound..<source.endIndex),
      source.range(of: Data("parentEntity".utf8), in: start.upperBound..<child.lowerBound) == nil,
      let end = source.range(of: Data("</entity>".utf8), in: start.upperBound..<source.endIndex)
    else { return nil }
    return Data(source[start.lowerBound..<end.upperBound])
  }
}
