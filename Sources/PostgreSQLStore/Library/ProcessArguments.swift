import Foundation

/// The arguments of this process as others see them.
package enum ProcessArguments {
  /// Overwrites the passwords of addresses, which everybody sees in the list of processes. Call it when the arguments were
  /// read.
  package static func hidePasswords() {
    guard asGiven.count > 1 else { return }
    // The fields after the name of the program, which may have any character, begin with the third one.
    let status = FileManager.default.contents(atPath: "/proc/self/stat").map { String(decoding: $0, as: UTF8.self) }
    guard let status, let name = status.lastIndex(of: ")") else { return }
    let fields = Array(status[name...].split(separator: " ").dropFirst())
    guard fields.count > 46, let start = UInt(fields[45]), let end = UInt(fields[46]), start < end,
      let first = UnsafeMutablePointer<UInt8>(bitPattern: start)
    else { return }
    // Safe: this memory has the arguments as long as the process runs, and nothing else reads or writes it.
    let bytes = UnsafeMutableBufferPointer(start: first, count: Int(end - start))
    let given = bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    let shown = Array(given.map(PostgreSQLAddress.withStars).joined(separator: "\0").utf8)
    if shown.count == bytes.count { _ = bytes.update(fromContentsOf: shown) }
  }

  /// As they were given.
  private static let asGiven = CommandLine.arguments
  /// There may be very many files, and a message must not search them all.
  private static let withPasswords = asGiven.dropFirst().filter { PostgreSQLAddress.withoutPasswords($0) != $0 }

  /// A message without the passwords that are in arguments.
  package static func withoutPasswords(_ message: String) -> String {
    withPasswords.reduce(message) { PostgreSQLAddress.withoutPasswords($0, quoting: $1) }
  }
}
