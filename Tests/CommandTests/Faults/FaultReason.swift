import Glibc

/// Whether a message names the reason of a call that failed.
enum FaultReason {
  /// - Parameters:
  ///   - code: The error number that the call gave.
  ///   - call: Its name, a space, and its file.
  static func problems(of messages: String, after code: Int32, at call: String, isLasting: Bool) -> [String] {
    if messages.isEmpty { return ["no message"] }
    let name = call.prefix { $0 != " " }
    // A message about a lock says that the store is in use, whatever the error of the call is.
    guard !["fcntl", "flock"].contains(name), let words = words[code] else { return [] }
    // SQLite says the same of a disk that is full and of one that fails. The calls that fail later are other ones.
    let others = (code == ENOSPC ? ["The disk may be full"] : []) + (isLasting ? ["its locks can't be taken"] : [])
    return (words + others).contains { messages.contains($0) } ? [] : ["without the reason: \(messages)"]
  }

  private static let words: [Int32: [String]] = [
    EIO: ["Input/output error", "disk I/O error"],
    ENOSPC: ["No space left on device", "disk is full"],
  ]
}
