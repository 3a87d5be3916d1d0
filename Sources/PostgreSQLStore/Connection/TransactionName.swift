import Foundation
import ManagedObjectModel

/// A transaction as its server names it, to find out later whether it was committed.
struct TransactionName: Sendable, Equatable {
  /// `pg_current_xact_id_if_assigned()`.
  let number: String
  /// The history of the server to which the number belongs, and its last checkpoint: a standby that was promoted gives its
  /// numbers again, and so does a server after a crash, which ends with a checkpoint.
  let timeline: String

  /// What a server says about the transaction.
  enum Outcome: Equatable {
    case committed
    case rolledBack
    case inProgress
    /// The server can't know it.
    case unknown
  }
}

extension PostgreSQLConnection {
  private static let timeline =
    "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' ' "
    + "|| (SELECT checkpoint_lsn::text FROM pg_control_checkpoint())"

  /// What is seen of the database at the end of a transaction.
  struct LastLook {
    /// Nil if nothing was written, or if the server does not keep the outcome of transactions.
    let name: TransactionName?
    /// The number of the table of metadata, which a store that is migrated or made anew gets anew; nil if it is gone.
    let storeNumber: Int64?
    let hasHistory: Bool
  }

  /// Asks with the statements that were sent ahead, whose errors it throws.
  func lastLook() throws -> LastLook {
    try checkTransaction()
    let named = try canNameTransactions() ? ", pg_current_xact_id_if_assigned()::text, \(Self.timeline)" : ""
    let row = try rows("SELECT \(Self.storeNumber), to_regclass('\"ATRANSACTION\"') IS NOT NULL\(named)", [])[0]
    var name: TransactionName?
    if row.count == 4, case .text(let number) = row[2], case .text(let timeline) = row[3] {
      name = TransactionName(number: number, timeline: timeline)
    }
    let number: Int64? = if case .integer(let number) = row[0] { number } else { nil }
    return LastLook(name: name, storeNumber: number, hasHistory: row[1] == .integer(1))
  }

  static let storeNumber = "to_regclass('\"Z_METADATA\"')::oid::bigint"

  /// Asks once, behind a savepoint: not every server with this protocol has the functions.
  private func canNameTransactions() throws -> Bool {
    if let namesTransactions { return namesTransactions }
    try send("SAVEPOINT ocd_name")
    try finish()
    do {
      _ = try query("SELECT pg_xact_status(pg_current_xact_id_if_assigned()), \(Self.timeline)")
      namesTransactions = true
    } catch let error as PostgreSQLError where !error.isOfConnection {
      namesTransactions = false
      try send("ROLLBACK TO ocd_name")
    }
    try send("RELEASE ocd_name")
    return namesTransactions ?? false
  }

  /// Called on another connection than the transaction's.
  func outcome(of name: TransactionName) throws -> TransactionName.Outcome {
    do {
      guard case .text(name.timeline)? = try rows("SELECT \(Self.timeline)", []).first?.first else { return .unknown }
      let status = try rows("SELECT pg_xact_status(?::text::xid8)", [.text(name.number)]).first?.first
      switch status {
      case .text("committed"): return .committed
      case .text("aborted"): return .rolledBack
      case .text("in progress"): return .inProgress
      // Null: too old. The server has forgotten it.
      default: return .unknown
      }
    } catch let error as PostgreSQLError where !error.isOfConnection && !error.isPassing {
      return .unknown
    }
  }
}
