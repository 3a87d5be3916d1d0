import Foundation
import OpenCoreData
import TestSupport
import Testing

/// The policies by name, for tables of cases.
enum Policy: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case error, storeTrump, objectTrump, overwrite, rollback

  var value: NSMergePolicy {
    switch self {
    case .error: .error
    case .storeTrump: .mergeByPropertyStoreTrump
    case .objectTrump: .mergeByPropertyObjectTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }
  var contextWins: Bool { self == .objectTrump || self == .overwrite }
  var testDescription: String { rawValue }
}

/// A context that has read the session with key 2, and another one that changes it behind its back.
struct ConflictingPair {
  enum Outcome { case succeed, fail(Int) }

  let stack: Stack
  let own: NSManagedObjectContext
  let object: NSManagedObject

  init(_ policy: Policy, model: NSManagedObjectModel = Sessions.model()) throws {
    stack = try Stack(try TemporaryFolder(), model: model)
    own = stack.context()
    let (own, stack) = (own, stack)
    object = try own.performAndWait {
      own.mergePolicy = policy.value
      for (place, rating) in [("other", 2), ("start", 1)] {
        let object = NSManagedObject.make(stack.entity, in: own)
        object.setValue(place, forKey: "place")
        object.setValue(rating, forKey: "rating")
        try own.save()
      }
      let request = stack.request()
      request.predicate = NSPredicate(format: "place == 'start'")
      let object = try #require(try own.fetch(request).first)
      _ = object.value(forKey: "place")
      return object
    }
  }

  /// Changes the same object in another context, and saves it.
  func theirs(_ change: (NSManagedObject) -> Void) throws {
    let other = stack.context()
    let id = own.performAndWait { object.objectID }
    try other.performAndWait {
      change(try other.existingObject(with: id))
      try other.save()
    }
  }

  func first() throws -> NSManagedObject {
    let request = stack.request()
    request.predicate = NSPredicate(format: "rating == 2")
    return try #require(try own.fetch(request).first)
  }

  /// Changes the first object's place and saves.
  func change(_ place: String) throws {
    try first().setValue(place, forKey: "place")
    try own.save()
  }

  func expectSave(to outcome: Outcome) throws {
    switch outcome {
    case .succeed: try own.save()
    case .fail(let code):
      let error = try #require(throws: NSError.self) { try own.save() }
      #expect(error.domain == NSCocoaErrorDomain && error.code == code)
    }
  }

  /// Place, rating and date as the context shows them.
  var values: [String] {
    let date = (object.value(forKey: "date") as? Date).map { "\(Int($0.timeIntervalSinceReferenceDate))" } ?? ""
    return [object.place ?? "", "\(object.value(forKey: "rating") ?? "")", date]
  }

  func dump() throws -> String {
    try stack.sqlite("SELECT Z_PK, Z_OPT, ZPLACE, ZRATING, ZDATE FROM ZSESSION ORDER BY Z_PK")
  }
}
