import Foundation
import SystemSupport
import ManagedObjectModel

/// What a store of the client's own calls an object: a text, an integer or a UUID.
package enum StoreReference: Sendable, Hashable {
  case text(String)
  case integer(Int)
  case longInteger(Int64)
  case number(Int64)
  case uuid(UUID)
  case url(URL)

  /// Nil for a value of another type.
  package init?(_ value: Any) {
    switch value {
    case let text as String: self = .text(text)
    case let number as Int: self = .integer(number)
    case let uuid as UUID: self = .uuid(uuid)
    case let url as URL: self = .url(url)
    case let text as NSString: self = .text(String(describing: text))
    case let uuid as NSUUID:
      guard let uuid = UUID(uuidString: uuid.uuidString) else { return nil }
      self = .uuid(uuid)
    case let number as any BinaryInteger:
      guard let number = Int64(exactly: number) else { return nil }
      self = .longInteger(number)
    case let number as NSNumber: self = .number(number.int64Value)
    default: return nil
    }
  }

  /// As the client gave it.
  package var value: Any {
    switch self {
    case .text(let text): text
    case .integer(let number): number
    case .longInteger(let number): number
    case .number(let number): NSNumber(value: number)
    case .uuid(let uuid): uuid
    case .url(let url): url
    }
  }

  /// What stands in a URI. References with the same text are the same reference.
  var text: String {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .longInteger(let number), .number(let number): String(number)
    case .uuid(let uuid): uuid.uuidString
    case .url(let url): url.absoluteString
    }
  }

  /// What a text in a URI stands for while the store has not made an ID with it.
  init(uriText text: String) {
    self = Int(text).flatMap { String($0) == text ? .integer($0) : nil } ?? .text(text)
  }
}

/// The reference objects of one store and the keys that stand for them: one key for each reference of an inheritance
/// tree. Entries are never removed, because IDs outlive rows.
package final class ReferenceTable: Sendable {
  private struct Name: Hashable, Sendable {
    let root: String
    let text: String
  }

  private struct Contents: Sendable {
    var keys: [Name: Int64] = [:]
    var references: [StoreReference] = []
  }

  private let contents = Locked(Contents())

  package init() {}

  /// The key of `reference`; a new one if the entity's inheritance tree has none.
  package func key(for reference: StoreReference, of entity: NSEntityDescription) -> Int64 {
    key(of: entity, text: reference.text) { _ in reference }
  }

  /// The key of the reference whose text in a URI is `text`.
  package func key(forURIText text: String, of entity: NSEntityDescription) -> Int64 {
    key(of: entity, text: text) { $0 ?? StoreReference(uriText: text) }
  }

  private func key(
    of entity: NSEntityDescription, text: String, _ reference: (StoreReference?) -> StoreReference
  ) -> Int64 {
    let name = Name(root: entity.rootEntity.name ?? "", text: text)
    return contents.withLock { contents in
      if let key = contents.keys[name] {
        contents.references[Int(key) - 1] = reference(contents.references[Int(key) - 1])
        return key
      }
      contents.references.append(reference(nil))
      let key = Int64(contents.references.count)
      contents.keys[name] = key
      return key
    }
  }

  /// What `key` stands for; nil for a key that the table did not give.
  package func reference(of key: Int64) -> StoreReference? {
    contents.withLock { contents in
      key > 0 && key <= contents.references.count ? contents.references[Int(key) - 1] : nil
    }
  }

  /// The greatest key; 0 before the first.
  package var lastKey: Int64 { contents.withLock { Int64($0.references.count) } }

  func uriText(of key: Int64) -> String? {
    reference(of: key)?.text.addingPercentEncoding(withAllowedCharacters: Self.uriCharacters)
  }

  /// Without the slash, which separates the parts of a URI.
  private static let uriCharacters = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
