import Foundation

/// What a store of a client's own class says about itself.
// Unchecked: `lock` guards everything that changes; the metadata is a property list.
final class StoreDetails: @unchecked Sendable {
  private let lock = NSLock()
  private var urlKept: URL?
  private var isReadOnlyKept = false
  private var metadataKept: [String: Any] = [:]
  private var registeredTypeKept = ""
  private var hasUnsavedMetadataKept = false

  var url: URL? {
    get { lock.withLock { urlKept } }
    set { lock.withLock { urlKept = newValue } }
  }
  var isReadOnly: Bool {
    get { lock.withLock { isReadOnlyKept } }
    set { lock.withLock { isReadOnlyKept = newValue } }
  }
  var metadata: [String: Any] {
    get { lock.withLock { metadataKept } }
    set { lock.withLock { metadataKept = newValue } }
  }
  /// The type that the store's class is registered under.
  var registeredType: String {
    get { lock.withLock { registeredTypeKept } }
    set { lock.withLock { registeredTypeKept = newValue } }
  }
  var hasUnsavedMetadata: Bool {
    get { lock.withLock { hasUnsavedMetadataKept } }
    set { lock.withLock { hasUnsavedMetadataKept = newValue } }
  }

  /// As the metadata has it, or else as the class is registered.
  var type: String { metadata[NSStoreTypeKey] as? String ?? registeredType }
}
