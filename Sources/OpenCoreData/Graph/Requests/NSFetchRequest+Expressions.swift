import Foundation

/// A fetch request of any type of results, which an expression executes.
protocol FetchedByExpression {
  /// A copy that finds objects.
  var ofObjects: NSFetchRequest<NSManagedObject> { get }
  /// The results; of dictionaries, the values of their only property.
  func values(in context: NSManagedObjectContext) throws -> [Any]
}

extension NSFetchRequest: FetchedByExpression {
  var ofObjects: NSFetchRequest<NSManagedObject> {
    let request = retyped(as: NSManagedObject.self)
    request.resultType = .managedObjectResultType
    return request
  }

  func values(in context: NSManagedObjectContext) throws -> [Any] {
    let results = try context.fetch(retyped(as: Any.self))
    guard resultType == .dictionaryResultType else { return results }
    guard propertiesToFetch?.count == 1 else {
      throw NSError.coreData(
        .coreData,
        "FETCH needs one value of each dictionary, and the request for \(entityName ?? "") does not name one property. Set "
          + "propertiesToFetch to it.")
    }
    return results.map { ($0 as? NSDictionary)?.allValues.first ?? NSNull() }
  }
}
