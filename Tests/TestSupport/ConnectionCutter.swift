import Foundation

/// Stands between clients and a PostgreSQL server of the tests: cuts the connection at the next COMMIT, or holds a chosen
/// statement up.
// Unchecked: `lock` guards what changes; the sockets' numbers are constants.
package final class ConnectionCutter: @unchecked Sendable {
  /// What happens at the next COMMIT. The client's connection is closed in any case.
  package enum Cut: Sendable {
    /// The server gets COMMIT, and its answer is dropped.
    case answer
    /// The server does not get COMMIT and sees the end of the connection.
    case commit
    /// As `commit`, but the server sees the end later, in so many milliseconds.
    case commitLate(UInt32)
    /// As `answer`, and no connection is taken any more.
    case answerForGood
  }

  private let lock = NSLock()
  private var next: Cut?
  private var commitsBeforeCut = 0
  private var commits = 0
  private var isRefusing = false
  private var cuts = 0
  private var messagesLeft: Int?
  private var held: (text: String, number: Int)?
  private var isHoldingNow = false
  private var replacement: (old: [UInt8], new: [UInt8])?
  private var replacements = 0

  private let folder: TemporaryFolder
  private let serverFolder: String
  private let listener: Int32

  package init(before server: PostgreSQLServer) throws {
    folder = try TemporaryFolder()
    serverFolder = server.socketFolder
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let path = folder.file(".s.PGSQL.5432").path
    guard Self.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 50) == 0 else {
      throw ProgramFailure(description: "the socket \(path) can't be made: \(String(cString: strerror(errno)))")
    }
    Thread.detachNewThread { [self] in acceptAll() }
  }

  /// The address, instead of the server's.
  package func address(instead address: URL) -> URL? {
    URL(
      string: address.absoluteString.replacingOccurrences(
        of: "host=\(serverFolder)", with: "host=\(folder.url.path)"))
  }

  /// - Parameter count: How many commits of any client come before.
  package func cutNextCommit(_ cut: Cut, after count: Int = 0) {
    lock.withLock { (next, commitsBeforeCut) = (cut, count) }
  }

  /// How many commits clients have sent.
  package var commitCount: Int { lock.withLock { commits } }

  /// Cuts a connection when clients have sent so much that it was read in so many pieces; nil: never.
  package func cut(afterMessages count: Int?) { lock.withLock { messagesLeft = count } }

  /// Holds the statement up that is the so-many-th with a text, and all later ones of its connection, until ``goOn()``.
  package func hold(_ text: String, number: Int) { lock.withLock { held = (text, number) } }

  /// Whether a statement is held up.
  package var isHolding: Bool { lock.withLock { isHoldingNow } }

  package func goOn() { lock.withLock { isHoldingNow = false } }

  private func holdIfChosen(_ bytes: [UInt8]) {
    let isChosen = lock.withLock {
      guard let (text, number) = held, String(decoding: bytes, as: UTF8.self).contains(text) else { return false }
      held = number > 1 ? (text, number - 1) : nil
      isHoldingNow = number == 1
      return isHoldingNow
    }
    while isChosen, isHolding { usleep(2000) }
  }

  /// Changes a part of statements on their way to the server. Both texts have the same length.
  package func replace(_ old: String, by new: String) {
    precondition(old.utf8.count == new.utf8.count, "The length of a message is in front of it.")
    lock.withLock { replacement = (Array(old.utf8), Array(new.utf8)) }
  }

  /// How many parts were changed.
  package var replacementCount: Int { lock.withLock { replacements } }

  private func replaced(_ bytes: [UInt8]) -> [UInt8] {
    lock.withLock {
      guard let replacement else { return bytes }
      var result = bytes
      for start in 0..<max(0, bytes.count - replacement.old.count)
      where bytes[start...].starts(with: replacement.old) {
        result.replaceSubrange(start..<start + replacement.old.count, with: replacement.new)
        replacements += 1
      }
      return result
    }
  }

  package var cutCount: Int { lock.withLock { cuts } }

  package func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      if client < 0 { return }
      let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      let isRefused = lock.withLock { isRefusing }
      guard !isRefused, Self.withAddress("\(serverFolder)/.s.PGSQL.5432", { connect(server, $0, $1) }) == 0 else {
        close(client)
        close(server)
        continue
      }
      let pair = Pair(client: client, server: server)
      Thread.detachNewThread { [self] in carryRequests(pair) }
      Thread.detachNewThread {
        while let bytes = Pair.read(pair.server), !pair.isCut, Pair.write(bytes, to: pair.client) {}
        pair.endClient()
      }
    }
  }

  /// Both ends, which are closed when neither direction needs them.
  // Unchecked: `lock` guards what changes.
  private final class Pair: @unchecked Sendable {
    let client: Int32
    let server: Int32
    private let lock = NSLock()
    private var isCutNow = false
    /// Whether the server's answers are dropped.
    var isCut: Bool {
      get { lock.withLock { isCutNow } }
      set { lock.withLock { isCutNow = newValue } }
    }

    init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

    deinit { for descriptor in [client, server] { close(descriptor) } }

    func endClient() { shutdown(client, Int32(SHUT_RDWR)) }
    func endServer() { shutdown(server, Int32(SHUT_RDWR)) }

    static func read(_ descriptor: Int32) -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      return count > 0 ? Array(buffer[..<count]) : nil
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count <= 0 { return false }
        sent += count
      }
      return true
    }
  }

  private func carryRequests(_ pair: Pair) {
    while let bytes = Pair.read(pair.client) {
      holdIfChosen(bytes)
      let isCommit = String(decoding: bytes, as: UTF8.self).contains("COMMIT\0")
      let cut = lock.withLock { () -> Cut? in
        if let left = messagesLeft {
          messagesLeft = left > 1 ? left - 1 : nil
          if left == 1 { return .commit }
        }
        if isCommit { commits += 1 }
        guard isCommit, let cut = next else { return nil }
        commitsBeforeCut -= 1
        if commitsBeforeCut >= 0 { return nil }
        next = nil
        cuts += 1
        if case .answerForGood = cut { isRefusing = true }
        return cut
      }
      guard let cut else {
        if !Pair.write(replaced(bytes), to: pair.server) { break }
        continue
      }
      pair.isCut = true
      switch cut {
      case .answer, .answerForGood: _ = Pair.write(bytes, to: pair.server)
      case .commit: pair.endServer()
      case .commitLate(let milliseconds):
        pair.endClient()
        usleep(milliseconds * 1000)
      }
      pair.endClient()
    }
    pair.endServer()
  }
}
