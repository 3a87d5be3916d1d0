import Foundation

/// The changes that one save or batch request made in a store. (Apple documentation: NSPersistentHistoryTransaction.)
open class NSPersistentHistoryTransaction: NSObject, NSFetchRequestResult {
  /// When it was saved.
  public let timestamp: Date
  /// Nil if the request asked for transactions only.
  public let changes: [NSPersistentHistoryChange]?
  /// Its number, which is unique in its store and grows.
  public let transactionNumber: Int64
  /// The UUID of the store.
  public let storeID: String
  /// The identifier of the program's bundle; the name of its process where it has none.
  public let bundleID: String
  /// The name of the process.
  public let processID: String
  /// The name of the context that saved.
  public let contextName: String?
  /// `transactionAuthor` of the context that saved.
  public let author: String?

  init(_ transaction: HistoryTransaction, store: String, changes: [NSPersistentHistoryChange]?) {
    timestamp = Date(timeIntervalSinceReferenceDate: transaction.seconds)
    transactionNumber = transaction.number
    storeID = store
    bundleID = transaction.bundleID ?? ""
    processID = transaction.processID ?? ""
    contextName = transaction.contextName
    author = transaction.author
    self.changes = changes
    super.init()
    for change in changes ?? [] { change.transaction = self }
  }

  private init(_ whole: NSPersistentHistoryTransaction, changes: [NSPersistentHistoryChange]) {
    (timestamp, transactionNumber, storeID) = (whole.timestamp, whole.transactionNumber, whole.storeID)
    (bundleID, processID) = (whole.bundleID, whole.processID)
    (contextName, author) = (whole.contextName, whole.author)
    self.changes = changes
    super.init()
    for change in changes { change.transaction = self }
  }

  /// The transaction with the changes that `isKept` says; nil without any.
  func keeping(_ isKept: (NSPersistentHistoryChange) -> Bool) -> NSPersistentHistoryTransaction? {
    let kept = (changes ?? []).filter(isKept)
    return kept.isEmpty ? nil : NSPersistentHistoryTransaction(self, changes: kept)
  }

  /// The point in the history right after this transaction.
  public var token: NSPersistentHistoryToken { NSPersistentHistoryToken([storeID: transactionNumber]) }

  /// The changes in the form that `mergeChanges(fromContextDidSave:)` takes.
  public func objectIDNotification() -> Notification {
    let kinds: [(NSPersistentHistoryChangeType, String)] = [
      (.insert, NSInsertedObjectIDsKey), (.update, NSUpdatedObjectIDsKey), (.delete, NSDeletedObjectIDsKey),
    ]
    var info: [AnyHashable: Any] = [:]
    for (kind, key) in kinds {
      let ids = (changes ?? []).filter { $0.changeType == kind }.map(\.changedObjectID)
      info.setUnlessEmpty(Set(ids), key)
    }
    return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: info)
  }

  /// The keys that a predicate of a history request can name. `token` is the same number as `transactionNumber`.
  public class var entityDescription: NSEntityDescription? {
    HistoryEntity.description(
      "Transaction",
      [
        ("author", .stringAttributeType), ("bundleID", .stringAttributeType), ("contextName", .stringAttributeType),
        ("processID", .stringAttributeType), ("timestamp", .dateAttributeType), ("token", .integer64AttributeType),
        ("transactionNumber", .integer64AttributeType),
      ])
  }

  /// The same description for every context.
  public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    entityDescription
  }

  /// A request for `NSPersistentHistoryChangeRequest.fetchHistory(withFetch:)`.
  ///
  /// ```swift
  /// let others = NSPersistentHistoryTransaction.fetchRequest
  /// others?.predicate = NSPredicate(format: "author != %@", "import")
  /// ```
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    HistoryEntity.request(entityDescription)
  }

  /// The values that predicates and sort descriptors see.
  var values: NSDictionary {
    let known: [String: Any?] = [
      "author": author, "bundleID": bundleID, "contextName": contextName, "processID": processID,
      "timestamp": timestamp as NSDate, "token": transactionNumber, "transactionNumber": transactionNumber,
    ]
    return known.compactMapValues { $0 } as NSDictionary
  }
}

/// The descriptions of transactions and changes, for predicates over them.
enum HistoryEntity {
  static func description(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      return attribute
    }
    return entity
  }

  static func request(_ entity: NSEntityDescription?) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    return request
  }
}
