import Foundation
import ManagedObjectModel
import PersistentStores

/// What one connection sees of the database, by a name under which others see the same.
struct SharedSnapshot: Sendable {
  /// Made by the server; valid until the transaction that has exported it ends.
  private let name: String
  /// Which transactions it sees, as text.
  private let contents: String

  /// - Throws: `PostgreSQLError`; `ofSharing` says what it means.
  init(exporting connection: PostgreSQLConnection) throws {
    guard case .text(let name)? = try connection.rows("SELECT pg_export_snapshot()", []).first?.first else {
      throw PostgreSQLError(state: nil, message: "the server has named no snapshot")
    }
    self.name = name
    contents = try Self.contents(connection)
  }

  /// Which transactions the open one sees.
  private static func contents(_ connection: PostgreSQLConnection) throws -> String {
    guard case .text(let text)? = try connection.rows("SELECT pg_current_snapshot()::text", []).first?.first else {
      throw PostgreSQLError(state: nil, message: "the server does not say which transactions are seen")
    }
    return text
  }

  /// Makes a transaction, which has run no statement yet, see the same.
  ///
  /// - Throws: `PostgreSQLError`, also if it then sees something else: a program between client and server may lead the two
  ///   connections to different servers.
  func bind(_ connection: PostgreSQLConnection) throws {
    try connection.send("SET TRANSACTION SNAPSHOT \(name.quotedText)")
    guard try Self.contents(connection) == contents else { throw PostgreSQLError.ofOtherSnapshot }
  }
}

extension PostgreSQLError {
  fileprivate static let ofOtherSnapshot = PostgreSQLError(
    state: "25000", message: "a connection sees other rows than the first one")

  /// An error of connections that were to see the same rows. Where the server does not do that, as on some that only speak
  /// PostgreSQL's protocol, it says so.
  func ofSharing(_ location: String) -> NSError {
    if isOfConnection || isPassing {
      return coreDataError(.sqlite, "Reading \(location) over several connections failed")
    }
    return .coreData(
      .sqlite, "\(location) can't be read over several connections that see the same rows: \(message).",
      userInfo: [NSError.unsharedSnapshotKey: true])
  }
}

extension NSError {
  fileprivate static let unsharedSnapshotKey = "OpenCoreDataUnsharedSnapshot"

  /// Whether several connections were to see the same rows and can't.
  package var isOfUnsharedSnapshot: Bool { userInfo[Self.unsharedSnapshotKey] as? Bool == true }
}
