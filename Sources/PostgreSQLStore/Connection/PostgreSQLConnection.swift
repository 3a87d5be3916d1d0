import CPostgreSQL
import Foundation
import SystemSupport
import ManagedObjectModel
import PersistentStores

/// A connection to a server. It belongs to one thread at a time.
///
/// Statements whose results are not waited for are sent ahead (libpq's pipeline mode), so that they cost no round trip. It
/// keeps no state on the server between transactions, so that a pooler may give each one another server process.
// Unchecked: its users hold the lock of a store, of a snapshot or of a cursor, or have taken it from the pool.
final class PostgreSQLConnection: @unchecked Sendable {
  let library: PostgreSQLLibrary
  private let address: PostgreSQLAddress
  private var handle: OpaquePointer?
  /// A statement that was sent ahead and not answered yet, and what is done with its result.
  private struct Waiting {
    let sql: String
    let check: ((PostgreSQLResult) throws -> Void)?
  }
  private var waiting: [Waiting] = []
  private var isPipelined = false
  /// Whether the server was asked for the answers to what was sent ahead.
  private var isAnswering = false
  /// Whether the server can say later whether a transaction was committed; nil until it was asked.
  var namesTransactions: Bool?
  private var translations: [String: String] = [:]
  private static let translationsMax = 500
  /// The answers of so many statements do not fill the buffers between server and client.
  private static let waitingMax = 200

  /// Why the server has ended the connection, if it did. libpq writes to it until the connection is closed.
  private let endReason = UnsafeMutablePointer<cpq_end_reason>.allocate(capacity: 1)

  private var functions: cpq_functions { library.functions }

  /// - Throws: `PostgreSQLError`; `NSError` 134080 for settings that libpq or the server does not take.
  init(_ address: PostgreSQLAddress, _ library: PostgreSQLLibrary, timeoutSeconds: Double) throws {
    self.library = library
    self.address = address
    endReason.initialize(to: cpq_end_reason())
    let parameters = address.parameters(timeoutSeconds: timeoutSeconds)
    let keywords = parameters.map { $0.keyword.allocatedCString() }
    let values = parameters.map { $0.value.allocatedCString() }
    defer { for text in keywords + values { text.deallocate() } }
    handle = library.functions.connect(
      keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
    guard let handle, library.functions.status(handle) == Int32(CPQ_CONNECTION_OK) else {
      var error = connectionError(nil)
      error.state = error.state ?? RefusedConnection.state(of: error.message)
      close()
      throw RefusedConnection.isOfSettings(error.message) ? address.unusable(settings: error.message) : error
    }
    var functions = library.functions
    cpq_receive_notices(&functions, handle, endReason)
  }

  deinit {
    close()
    endReason.deallocate()
  }

  func close() {
    if let handle { functions.finish(handle) }
    handle = nil
    (waiting, isAnswering) = ([], false)
  }

  var isUsable: Bool { handle.map { functions.status($0) == Int32(CPQ_CONNECTION_OK) } ?? false }

  /// Whether statements are part of a transaction, also of one that has failed.
  var isInTransaction: Bool {
    guard let handle else { return false }
    let status = functions.transaction_status(handle)
    return status == Int32(CPQ_IN_TRANSACTION) || status == Int32(CPQ_IN_ERROR) || !waiting.isEmpty
  }

  /// Whether an idle connection can be used, as far as its end has arrived: a server that was restarted has closed it.
  var isAlive: Bool { isInTransaction ? isUsable : isStillOpen }

  /// Whether the connection is open, as far as its end has arrived. No answer may be expected.
  var isStillOpen: Bool {
    guard let handle, isUsable else { return false }
    // The first call reads the server's last message, the second one meets the end.
    for _ in 0..<2 where functions.consume_input(handle) == 0 { return false }
    return isUsable
  }

  /// A setting that the server reports, such as `server_encoding`.
  func setting(_ name: String) -> String? {
    handle.flatMap { functions.parameter_status($0, name) }.map { String(cString: $0) }
  }

  /// For example 150004.
  var serverVersion: Int { handle.map { Int(functions.server_version($0)) } ?? 0 }

  // MARK: Statements

  /// Begins a transaction that writes, whatever the user's settings make of BEGIN.
  static let beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

  /// Lets the server notice within a minute, not hours, that the machine of an open transaction is gone, whose locks others
  /// wait for. A shorter time that the server has stays. Without an effect where no network is between them.
  static let noticingLostClients =
    "SELECT set_config('tcp_keepalives_idle', '30', true), set_config('tcp_keepalives_interval', '10', true), "
    + "set_config('tcp_keepalives_count', '3', true) WHERE current_setting('tcp_keepalives_idle', true)::integer > 30"

  private func text(_ sql: String) -> String {
    if let known = translations[sql] { return known }
    let made = StatementText.translated(sql)
    if translations.count >= Self.translationsMax { translations.removeAll(keepingCapacity: true) }
    translations[sql] = made
    return made
  }

  /// Sends one statement ahead. Its error is thrown by a later call.
  ///
  /// - Parameters:
  ///   - sql: With `?` for each value, and Core Data's names without quotation marks.
  ///   - check: Is given the result when a later call waits for it, which throws what this throws.
  func send(
    _ sql: String, _ values: [StoredValue] = [], check: ((PostgreSQLResult) throws -> Void)? = nil
  ) throws {
    try send(PostgreSQLParameters(values), text(sql), check: check)
    if waiting.count >= Self.waitingMax { try finish() }
  }

  private func send(
    _ parameters: PostgreSQLParameters, _ text: String, check: ((PostgreSQLResult) throws -> Void)? = nil
  ) throws {
    // An answer that was not waited for comes first.
    if isAnswering { _ = try synchronize() }
    let handle = try openHandle()
    if !isPipelined {
      guard functions.enter_pipeline(handle) == 1 else { throw connectionError(text) }
      isPipelined = true
    }
    let sent = parameters.withPointers { count, types, values, lengths, formats in
      functions.send_query(handle, text, count, types, values, lengths, formats, 1)
    }
    guard sent == 1 else { throw connectionError(text) }
    waiting.append(Waiting(sql: text, check: check))
  }

  /// Runs one statement, after those that were sent ahead.
  func query(_ sql: String, _ values: [StoredValue] = []) throws -> PostgreSQLResult {
    try send(PostgreSQLParameters(values), text(sql))
    guard let result = try synchronize() else { throw connectionError(sql) }
    return result
  }

  /// Sends one statement, which the server runs while this side goes on. `answer()` returns its result.
  func start(_ sql: String) throws {
    try send(sql)
    try requestAnswers()
  }

  /// The result of the statement that was started.
  func answer() throws -> PostgreSQLResult {
    guard let result = try synchronize() else { throw connectionError(nil) }
    return result
  }

  private func requestAnswers() throws {
    guard functions.pipeline_sync(try openHandle()) == 1 else { throw connectionError(nil) }
    isAnswering = true
  }

  /// Waits for the statements that were sent ahead.
  func finish() throws {
    if !waiting.isEmpty { _ = try synchronize() }
  }

  /// Runs statements in their order.
  ///
  /// - Returns: The number of rows that each has changed.
  func changes(_ statements: [(sql: String, values: [StoredValue])]) throws -> [Int] {
    try finish()
    for statement in statements { try send(PostgreSQLParameters(statement.values), text(statement.sql)) }
    var counts: [Int] = []
    _ = try synchronize { counts.append($0.changedCount) }
    return counts
  }

  /// Reads the answers up to the last statement's.
  ///
  /// - Returns: The result of the last one.
  /// - Throws: The first error, of the server or of a check. Statements after one of the server were not executed.
  private func synchronize(_ note: (PostgreSQLResult) -> Void = { _ in }) throws -> PostgreSQLResult? {
    let handle = try openHandle()
    if !isAnswering { try requestAnswers() }
    let sent = waiting
    (waiting, isAnswering) = ([], false)
    var (last, failure): (PostgreSQLResult?, (any Error)?) = (nil, nil)
    for statement in sent {
      while let result = functions.get_result(handle) {
        switch functions.result_status(result) {
        case Int32(CPQ_COMMAND_OK), Int32(CPQ_TUPLES_OK), Int32(CPQ_EMPTY_QUERY):
          let wrapped = PostgreSQLResult(result, library)
          note(wrapped)
          last = wrapped
          do { try statement.check?(wrapped) } catch { failure = failure ?? error }
        case Int32(CPQ_PIPELINE_ABORTED): functions.clear(result)
        default:
          failure = failure ?? error(of: result, statement.sql)
          functions.clear(result)
        }
      }
      guard isUsable else { throw connectionError(statement.sql) }
    }
    guard let end = functions.get_result(handle) else { throw failure ?? connectionError(nil) }
    functions.clear(end)
    if let failure { throw failure }
    return last
  }

  /// Commits the open transaction. The server answers COMMIT without an error where it has rolled back a failed one.
  func commit() throws {
    // What a check refuses is not committed.
    if waiting.contains(where: { $0.check != nil }) { try finish() }
    try checkTransaction()
    do {
      let result = try query("COMMIT")
      guard result.command == "COMMIT" else { throw PostgreSQLError.ofEndedTransaction }
    } catch var error as PostgreSQLError where error.isOfConnection {
      error.lostCommit = .open
      throw error
    }
  }

  /// - Throws: If nothing can be committed, because no transaction is open or it has failed.
  func checkTransaction() throws {
    let status = handle.map { functions.transaction_status($0) }
    if !isInTransaction || waiting.isEmpty && status == Int32(CPQ_IN_ERROR) { throw PostgreSQLError.ofEndedTransaction }
  }

  private func endPipeline() throws {
    try finish()
    guard isPipelined else { return }
    guard functions.exit_pipeline(try openHandle()) == 1 else { throw connectionError(nil) }
    isPipelined = false
  }

  // MARK: COPY

  /// Sends rows in the binary form of COPY.
  ///
  /// - Parameter fill: Replaces the contents of a buffer by the next part; leaves it empty at the end.
  /// - Returns: The number of rows.
  func copyIn(_ sql: String, _ fill: (inout CopyBuffer) throws -> Void) throws -> Int {
    try endPipeline()
    let handle = try openHandle()
    let text = text(sql)
    try start(text, Int32(CPQ_COPY_IN))
    var buffer = CopyBuffer()
    do {
      while true {
        buffer.truncate(to: 0)
        try fill(&buffer)
        if buffer.count == 0 { break }
        let sent = buffer.withBytes {
          functions.put_copy_data(handle, $0.bindMemory(to: CChar.self).baseAddress, Int32($0.count))
        }
        guard sent == 1 else { throw connectionError(text) }
      }
    } catch {
      _ = functions.put_copy_end(handle, "stopped by the client")
      while let rest = functions.get_result(handle) { functions.clear(rest) }
      throw error
    }
    guard functions.put_copy_end(handle, nil) == 1 else { throw connectionError(text) }
    return try end(text)
  }

  /// Receives the parts of what COPY writes, a row each.
  func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try endPipeline()
    let handle = try openHandle()
    let text = text(sql)
    try start(text, Int32(CPQ_COPY_OUT))
    while true {
      var bytes: UnsafeMutablePointer<CChar>?
      let count = functions.get_copy_data(handle, &bytes, 0)
      guard count > 0, let bytes else {
        if count == -2 { throw connectionError(text) }
        break
      }
      defer { functions.free_memory(bytes) }
      try body(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }
    _ = try end(text)
  }

  private func start(_ text: String, _ status: Int32) throws {
    guard let result = functions.exec(try openHandle(), text) else { throw connectionError(text) }
    defer { functions.clear(result) }
    if functions.result_status(result) != status { throw error(of: result, text) }
  }

  private func end(_ text: String) throws -> Int {
    let handle = try openHandle()
    var (count, failure): (Int, PostgreSQLError?) = (0, nil)
    while let result = functions.get_result(handle) {
      if functions.result_status(result) == Int32(CPQ_COMMAND_OK) {
        count = functions.changed_count(result).flatMap { Int(String(cString: $0)) } ?? 0
      } else {
        failure = failure ?? error(of: result, text)
      }
      functions.clear(result)
    }
    if let failure { throw failure }
    return count
  }

  // MARK: Errors

  private func openHandle() throws -> OpaquePointer {
    guard let handle else { throw PostgreSQLError(state: nil, message: "the connection was closed") }
    return handle
  }

  private func error(of result: OpaquePointer, _ sql: String) -> PostgreSQLError {
    func field(_ name: Int) -> String? { functions.result_field(result, Int32(name)).map { String(cString: $0) } }
    let message = field(Int(CPQ_DIAG_MESSAGE)) ?? functions.result_message(result).map { String(cString: $0) } ?? ""
    guard isUsable || field(Int(CPQ_DIAG_SQLSTATE)) != nil else { return connectionError(sql) }
    return PostgreSQLError(
      state: field(Int(CPQ_DIAG_SQLSTATE)), message: cleaned(message), constraint: field(Int(CPQ_DIAG_CONSTRAINT)),
      sql: sql)
  }

  private func connectionError(_ sql: String?) -> PostgreSQLError {
    var message = handle.flatMap { functions.error_message($0) }.map { String(cString: $0) } ?? "out of memory"
    // Passes on what has arrived and was not looked at.
    if let handle { _ = functions.is_busy(handle) }
    let endReason = String(cString: cpq_end_reason_text(endReason))
    if !endReason.isEmpty, !message.contains(endReason) { message = "\(endReason): \(message)" }
    let full = [
      "too many clients", "remaining connection slots", "too many connections", "no more connections allowed",
    ]
    let isRefused = full.contains(where: message.contains)
    return PostgreSQLError(
      state: isRefused ? "53300" : nil, message: message.isEmpty ? "the connection is lost" : cleaned(message), sql: sql
    )
  }

  /// On one line: libpq's messages have several, which begin with tabs and, where a sentence begins, with a capital letter.
  private func cleaned(_ message: String) -> String {
    var text = ""
    for line in address.withoutPasswords(message).split(whereSeparator: \.isNewline) {
      let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      guard let first = words.first else { continue }
      if let last = text.last { text += first.isUppercase && !".?:,;".contains(last) ? ". " : " " }
      text += words
    }
    return text
  }
}

extension PostgreSQLConnection: TableStatements {
  func run(_ sql: String, _ values: [StoredValue]) throws { try send(sql, values) }

  func change(_ sql: String, _ values: [StoredValue]) throws -> Int { try query(sql, values).changedCount }

  /// Rows are locked in the order of their keys: two writers that count up the same ones do not wait for each other.
  func countVersions(of keys: ArraySlice<Int64>, in table: String) throws -> Int {
    let rows =
      "SELECT Z_PK AS ocd_key FROM \(table) WHERE Z_PK IN (\(SQLFragment.keyMarks(keys.count))) ORDER BY Z_PK "
      + "FOR NO KEY UPDATE"
    return try change(
      "UPDATE \(table) SET Z_OPT = Z_OPT + 1 FROM (\(rows)) AS ocd_rows WHERE Z_PK = ocd_key",
      keys.map(StoredValue.integer))
  }

  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] { try query(sql, values).rows }

  func integer(_ sql: String, _ values: [StoredValue]) throws -> Int64? {
    guard case .integer(let number)? = try rows(sql, values).first?.first else { return nil }
    return number
  }
}
