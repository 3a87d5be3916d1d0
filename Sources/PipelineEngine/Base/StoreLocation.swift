import Foundation
import SystemSupport
import OpenCoreData
import PipelineDefinition
import PostgreSQLStore

/// Where a store is: a file, or a database of a PostgreSQL server.
package struct StoreLocation: Sendable {
  /// As it was given, to open it. An address may have a password.
  package let text: String

  package init(_ text: String) { self.text = text }

  /// Whether no file has this name, and it looks like the address of a server in another form.
  package static func resemblesAddress(_ text: String) -> Bool {
    // There may be very many operands: the system is asked about nearly none.
    StoreAddress.resemblesAddress(text) && !mayExist(text)
  }

  package var isServer: Bool { StoreAddress.isAddress(text) }

  /// The path of a file; nil for a database.
  package var path: String? { isServer ? nil : text }

  /// The folder for files that belong to the store: its own, or the current one for a database.
  var folder: String { path.map(OutputPath.folder) ?? FileManager.default.currentDirectoryPath }

  /// - Throws: `RunFailure` for an address that can't be read as a URL.
  package func url() throws(RunFailure) -> URL {
    guard isServer else { return URL(fileURLWithPath: text) }
    guard let url = PostgreSQLAddress.url(text) else {
      throw RunFailure(
        code: nil, exitCode: .usage,
        message: "the address of the store can't be read; write it as postgresql://USER@HOST/DATABASE, with other "
          + "characters than letters and digits as %XX")
    }
    return url
  }

  package var type: String { isServer ? NSPostgreSQLStoreType : NSSQLiteStoreType }

  /// For messages: without a password.
  package var shown: String { isServer ? PostgreSQLAddress.withoutPasswords(text) : text }

  /// Hides the passwords of addresses in the list of processes. Call it when the arguments were read.
  package static func hidePasswordsOfArguments() { ProcessArguments.hidePasswords() }

  /// A message without the passwords that are in arguments.
  package static func withoutPasswordsOfArguments(_ message: String) -> String {
    ProcessArguments.withoutPasswords(message)
  }

  /// For files that name the store, to open it again: the absolute path of a file, or an address without its password,
  /// which a password file then has to give.
  var recorded: String {
    if let path { return URL(fileURLWithPath: path).path }
    guard let question = shown.firstIndex(of: "?") else { return shown }
    let parameters = shown[shown.index(after: question)...].split(separator: "&").filter { !$0.hasSuffix("=***") }
    return shown[..<question] + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
  }

  /// Whether there is a store. A server that can't be asked may have one: opening it says what is wrong.
  package var exists: Bool {
    guard isServer else { return mayExist(text) }
    guard let url = try? url() else { return true }
    do {
      _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
      return true
    } catch {
      return !(error as NSError).isOfMissingStore
    }
  }
}
