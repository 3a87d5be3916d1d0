import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Synchronization
import TestSupport
import Testing

/// The statements that the store's connection executed while a test looked.
final class Trace {
  private(set) var statements: [String] = []

  /// The statements of a transaction that writes to a store without a history.
  static func write(_ statements: [String]) -> [String] {
    ["BEGIN IMMEDIATE", "SELECT coalesce(sum(Z_MAX), -1) FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN 16001 AND 16003"]
      + statements + ["COMMIT"]
  }

  /// The statements that `body` runs; none where the store has no SQL.
  static func of(_ stack: Stack, _ body: () throws -> Void) throws -> [String] {
    guard stack.kind == .sqlite else {
      try body()
      return []
    }
    let store = try #require(stack.coordinator.persistentStores.first?.rowStore as? SQLiteStore)
    let connection = try store.connection()
    let trace = Trace()
    connection.traceHandler = { trace.statements.append($0) }
    defer { connection.traceHandler = nil }
    try body()
    return trace.statements
  }
}

extension Stack {
  /// A stack whose store holds sessions 0..<count, saved.
  static func filled(
    _ folder: TemporaryFolder, count: Int, name: String = "store.sqlite", model: NSManagedObjectModel = Sessions.model()
  ) throws -> Stack {
    let stack = try Stack(folder, name, model: model)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<count, into: context, stack.entity)
      try context.save()
    }
    return stack
  }

  func dictionaries(_ change: (NSFetchRequest<NSDictionary>) -> Void) -> NSFetchRequest<NSDictionary> {
    let request = NSFetchRequest<NSDictionary>(entityName: "Session")
    request.resultType = .dictionaryResultType
    change(request)
    return request
  }
}

/// The message of the error that `body` throws.
func message(of body: () throws -> Void) -> String {
  let error = #expect(throws: NSError.self) { try body() }
  return error?.localizedDescription ?? ""
}

/// Counts from any thread.
final class Counter: Sendable {
  private let total = Atomic<Int>(0)
  var count: Int { total.load(ordering: .acquiring) }
  func increase() { total.add(1, ordering: .acquiringAndReleasing) }
}
