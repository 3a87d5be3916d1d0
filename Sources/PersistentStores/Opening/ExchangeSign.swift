import Foundation

/// A file next to a store that says which stores its WAL may hold while its file still holds another one. `ExchangeFolder`
/// writes it.
enum ExchangeSign {
  static let name = "uuid"
  /// In place of a UUID: the WAL holds an empty database.
  static let empty = "-"

  /// Where the sign of a store with a resolved path is.
  static func file(of store: URL) -> URL { StorePath.exchangeFolder(of: store).appendingPathComponent(name) }

  /// What the sign of a store with a resolved path has, each on a line.
  static func lines(of store: URL) -> [String] {
    ((try? String(contentsOf: file(of: store), encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// Whether the WAL of a store with a resolved path may hold the store `uuid`, or nothing for nil, whatever the file holds.
  static func announces(_ uuid: String?, of store: URL) -> Bool { lines(of: store).contains(uuid ?? empty) }
}
