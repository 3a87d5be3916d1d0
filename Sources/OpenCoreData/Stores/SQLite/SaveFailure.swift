import Foundation

/// A save that the store refused because of certain objects. The context turns it into an `NSError` with them.
struct SaveFailure: Error {
  struct Failure {
    let id: NSManagedObjectID
    let message: String
  }

  let code: NSError.CoreDataCode
  var failures: [Failure]

  var message: String {
    let first = failures.first.map { " The first: \($0.id): \($0.message)" } ?? ""
    let what =
      switch code {
      case .mergeConflict: "were changed in the store since they were read; refresh them and save again"
      case .constraintConflict: "have values that must be unique and are taken"
      default: "can't be written"
      }
    return "\(failures.count) objects \(what).\(first)"
  }
}
