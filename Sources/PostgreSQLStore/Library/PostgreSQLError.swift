import Foundation
import ManagedObjectModel
import PersistentStores

/// An error of the server or of the connection to it, before it is converted to a Core Data error.
struct PostgreSQLError: Error, CustomStringConvertible {
  /// The five characters of SQLSTATE; nil for an error that the server did not report.
  var state: String?
  /// Without the values of the statement, and without a password.
  let message: String
  var constraint: String?
  /// The statement that failed, without its values.
  var sql: String?
  /// Set if the connection was lost before the answer to COMMIT.
  var lostCommit: LostCommit?

  /// Whether the same succeeds when it is tried again, although the server's code does not say so.
  var canBeRepeated = false

  /// What became of a transaction whose answer to COMMIT was lost.
  enum LostCommit {
    /// It could not be found out: what was written may be committed.
    case open
    case rolledBack
  }

  static let ofTakenKeys: PostgreSQLError = {
    let message = "other programs have written rows with keys that this store was given, too"
    return PostgreSQLError(state: "23505", message: message, canBeRepeated: true)
  }()

  static let ofEndedTransaction = PostgreSQLError(
    state: "25P02", message: "the transaction has ended after an error, so that nothing of it is saved")

  var description: String {
    "PostgreSQL error \(state ?? "of the connection"): \(message)\(sql.map { " in: \($0)" } ?? "")"
  }

  /// That of a lock that others hold.
  static let lockState = "55P03"

  /// Whether values must be unique and are taken.
  var isUniqueness: Bool { state == "23505" && !canBeRepeated }
  /// Whether rows still lead to a deleted one, or a row leads to none.
  var isReference: Bool { state == "23503" }
  /// Whether the same transaction can succeed when it is tried again.
  var isPassing: Bool {
    guard let state, !canBeRepeated else { return canBeRepeated }
    return ["40001", "40P01", "55P03", "53300"].contains(state)
  }
  /// Whether the connection is of no more use.
  var isOfConnection: Bool {
    guard let state else { return true }
    return state.hasPrefix("08") || state.hasPrefix("57P0") || Self.timeLimitStates.contains(state)
  }

  /// Those of connections that the server has ended because a transaction took too long, or waited for its client.
  private static let timeLimitStates: Set = ["25P03", "25P04"]

  private var failureKind: StoreFailureKind {
    guard let state else { return .unreachable }
    switch state {
    case _ where isPassing: return .busy
    case "42501", "28000", "28P01": return .permissionDenied
    case "25006": return .readOnly
    case "53100": return .diskFull
    case "53200": return .outOfMemory
    case "58030": return .ioError
    case "XX001", "XX002": return .corrupt
    case "42P01", "42703", "42883": return .otherTables
    case "3D000": return .cannotOpen
    default: return isOfConnection ? .unreachable : .other
    }
  }

  /// The remedy for the common errors.
  private var advice: String {
    switch failureKind {
    case .busy where state == "53300": "The server has no connection left: try again later, or put a pooler before it."
    case _ where lostCommit == .open:
      "The connection was lost while the server committed, so the save may be complete. Read the objects again before you "
        + "save again."
    case _ where lostCommit == .rolledBack:
      "The connection was lost before the server committed, so nothing of it is saved. Save again."
    case _ where state == "57014":
      "The statement was cancelled, or took longer than the server's statement_timeout allows: raise that, or change "
        + "fewer objects at once."
    case _ where state.map(Self.timeLimitStates.contains) ?? false:
      "The server ends transactions that take long or wait for their program: raise idle_in_transaction_session_timeout or "
        + "transaction_timeout, or read the rows faster."
    case .busy: "Others are writing the same rows: save again."
    case .permissionDenied: "Check the user of the address, its password file (PGPASSFILE) and its rights."
    case .readOnly: "Connect to a server that takes writes."
    case .diskFull: "Free some space on the server and try again."
    case .unreachable: "Check the address, and whether the server is running."
    case .cannotOpen: "Check the address, or create the database."
    case .otherTables: "The tables are those of another program or version."
    default: ""
    }
  }

  /// - Parameters:
  ///   - code: The code of an error that has none of its own.
  ///   - what: What has failed, as the beginning of a sentence.
  func coreDataError(_ code: NSError.CoreDataCode, _ what: String) -> NSError {
    let code: NSError.CoreDataCode =
      isPassing ? .timeout : isReference ? .relationshipDeniedDelete : isUniqueness ? .constraintConflict : code
    let end = message.last.map { ".?".contains($0) } ?? false ? "" : "."
    let advice = advice.isEmpty ? "" : " \(advice)"
    var info: [String: Any] = [
      NSError.storeFailureKindKey: failureKind,
      NSUnderlyingErrorKey: NSError(
        domain: Self.domain, code: 0, userInfo: [NSLocalizedDescriptionKey: description]),
    ]
    if let state { info[Self.stateKey] = state }
    info[Self.mayPassKey] = state != Self.lockState && (isPassing || isOfConnection)
    info[Self.lostCommitKey] = lostCommit == .open
    return .coreData(code, "\(what): \(message)\(end)\(advice)", userInfo: info)
  }

  static let domain = "OpenCoreDataPostgreSQLErrorDomain"
  static let stateKey = "OpenCoreDataSQLState"
  fileprivate static let mayPassKey = "OpenCoreDataMayPass"
  fileprivate static let lostCommitKey = "OpenCoreDataLostCommit"
}

extension NSError {
  /// Whether the same can succeed a moment later: the server was not reachable, had too many connections, or has ended a
  /// transaction because of another one. One that has waited for a lock has waited long enough.
  package var mayPass: Bool { userInfo[PostgreSQLError.mayPassKey] as? Bool == true }

  /// Whether the connection was lost while the server committed, so that what was written may be there.
  package var isOfLostCommit: Bool { userInfo[PostgreSQLError.lostCommitKey] as? Bool == true }
}
