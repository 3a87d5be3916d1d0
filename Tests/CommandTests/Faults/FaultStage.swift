import Foundation
import Glibc
import TestSupport

/// The disk before a run, and what the run changed.
struct Recording {
  let begin: PowerCut
  let changes: [RecordedChange]
}

/// The program under the shim, with temporary files in a folder that is watched too.
struct ShimmedCommand {
  let arguments: [String]
  let work: TemporaryFolder
  /// For the shim's own files.
  let own: TemporaryFolder

  func environment(_ fault: Fault, recording record: String? = nil) throws -> [String: String] {
    var environment = try Shim.environment(fault, in: work, page: own.path("page"), recording: record)
    environment["TMPDIR"] = work.path("tmp")
    return environment
  }

  func run(
    _ fault: Fault, recording record: String? = nil, environment more: [String: String] = [:]
  ) throws -> (ProgramOutput, ShimReport) {
    let environment = try environment(fault, recording: record).merging(more) { $1 }
    let output = try Programs.run(Tool.url.path, arguments, in: work, environment: environment)
    return (output, try Shim.report(own.path("page")))
  }

  /// Starts it without output, and does not wait for its end. `own` has its messages.
  func start(_ fault: Fault) throws -> ChildProcess {
    let process = Programs.process(Tool.url.path, arguments, in: work, environment: try environment(fault))
    try own.write("", to: "messages")
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: own.file("messages"))
    try process.start()
    return process
  }

  func record(_ fault: Fault) throws -> (ProgramOutput, [RecordedChange]) {
    let record = own.path("record")
    try? FileManager.default.removeItem(atPath: record)
    let (output, _) = try run(fault, recording: record)
    return (output, try RecordedChange.changes(in: try own.data("record"), below: work.url.path))
  }
}

/// A folder in which a kind of run is tried again and again from the same beginning. The path stays the same, for it is
/// in the store's ledger.
final class FaultStage {
  let kind: RunKind
  let work: TemporaryFolder
  let base: TemporaryFolder
  let command: ShimmedCommand
  private let repetition: ShimmedCommand
  /// For the shim's files of other programs that use the folder.
  private let others: TemporaryFolder
  /// What any of its runs may end with.
  var statuses: Set<Int32> { kind.repeated.union([status, 0]) }
  /// The run without a fault: its status, and what it leaves when it is run once, and when it is run again and again.
  let status: Int32
  let once: LeftFiles
  private var more: [LeftFiles] = []
  let undisturbed: ShimReport
  /// Whether another run was in the folder since the last reset.
  private var isMet = false

  init(_ kind: RunKind) throws {
    self.kind = kind
    (work, base, others) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
    let own = try TemporaryFolder()
    command = ShimmedCommand(arguments: kind.arguments, work: work, own: own)
    repetition = ShimmedCommand(arguments: kind.repetition ?? kind.arguments, work: work, own: own)
    for (name, text) in RunKind.definitions { try work.write(text, to: name) }
    try work.makeFolder("tmp")
    try kind.prepare(work)
    try Self.copy(work, to: base)
    let (output, report) = try command.run(.none)
    undisturbed = report
    status = output.status
    once = try LeftFiles(work)
    guard status == 0 || status == 65 else { throw ProgramFailure(description: "\(kind.name): \(output.messages)") }
  }

  // MARK: Folders

  func reset() throws {
    isMet = false
    try clear()
    try Self.copy(base, to: work)
  }

  func clear() throws {
    for name in try work.names { try FileManager.default.removeItem(at: work.file(name)) }
  }

  private static func copy(_ from: TemporaryFolder, to: TemporaryFolder) throws {
    // The times of files stay: retention counts from them.
    try Programs.output(of: ["cp", "-a", from.path("."), to.url.path])
  }

  // MARK: Runs

  /// Runs the command in the folder as it is.
  func run(_ fault: Fault = .none, environment: [String: String] = [:]) throws -> (ProgramOutput, ShimReport) {
    try command.run(fault, environment: environment)
  }

  /// Runs another command in the folder while a run may be stopped. It waits only a short time for locks.
  func runBeside(_ arguments: [String]) throws -> ProgramOutput {
    isMet = true
    return try ShimmedCommand(arguments: arguments, work: work, own: others).run(.none, environment: Shim.hurry).0
  }

  /// Runs it from the beginning, and returns what it changed.
  func record(_ fault: Fault = .none) throws -> Recording {
    try reset()
    let begin = try PowerCut(of: work)
    let (output, changes) = try command.record(fault)
    guard output.status == status else {
      throw ProgramFailure(description: "\(kind.name) ended with \(output.status): \(output.messages)")
    }
    return Recording(begin: begin, changes: changes)
  }

  /// Replaces the folder by what a disk may hold after some of the changes.
  func write(
    image recording: Recording, after cut: Int, _ rest: PowerCut.Rest, using random: inout SeededGenerator
  ) throws {
    var disk = recording.begin
    for change in recording.changes.prefix(cut) { disk.add(change) }
    try clear()
    try disk.write(to: work, rest, using: &random)
  }

  // MARK: Trials

  /// Runs it from the beginning with a fault, then again without. `harm` is for canaries: it does what must be found.
  ///
  /// - Returns: What is wrong, and whether the fault happened at all.
  func problems(
    with fault: Fault, environment: [String: String] = [:], harm: (TemporaryFolder) throws -> Void = { _ in }
  ) throws -> (found: [String], happened: Bool) {
    try reset()
    let (output, report) = try run(fault, environment: environment)
    guard report.fired > 0 else { return ([], false) }
    try harm(work)
    let place = "\(kind.name), \(fault) (\(report.call)): "
    var found = try endProblems(of: output, after: fault, at: report.call)
    found += try repetitionProblems()
    return (found.map { place + $0 }, true)
  }

  /// How it ended, and what it left.
  private func endProblems(of output: ProgramOutput, after fault: Fault, at call: String) throws -> [String] {
    let first = output.messages.split(separator: "\n").first.map(String.init) ?? ""
    let expected: Set<Int32> =
      switch fault.action {
      case .kill: [128 + SIGKILL]
      // What has not begun, and what is one transaction, ends at once.
      case .terminate: [status, 0, 75, 128 + SIGTERM]
      case .fail(EINTR) where Self.isSyncOfSQLite(call): [status, 74]
      case .short, .nothing, .swallow, .delay, .stop, .fail(EINTR): [status]
      case .fail: failures(of: fault, at: call.split(separator: " ").first.map(String.init) ?? "")
      }
    var found = expected.contains(output.status) ? [] : ["status \(output.status): \(first)"]
    if case .fail(let code) = fault.action, output.status != status {
      found += FaultReason.problems(of: output.messages, after: code, at: call, isLasting: fault.isLasting)
    }
    // What could not be removed is a warning.
    let isWarning = first.contains("can't be removed") || first.contains("was not removed:")
    if case .fail = fault.action, status == 65, output.status == status, !first.isEmpty, !isWarning {
      found.append("an error of the data: \(first)")
    }
    if case .fail = fault.action, output.messages.contains("damaged") { found.append("called damaged: \(first)") }
    if fault.action != .kill, fault.action != .terminate, output.status == status, first.isEmpty {
      let left = try LeftFiles(work)
      // A lock that can't be removed is free, and the next run removes it.
      found += left.differences(from: once, permitting: isOfStore).map { "silent: \($0); \(first)" }
      found += left.changedReports(from: once)
    }
    return try found + storeProblems()
  }

  /// Whether a call is a sync that SQLite may have made. It repeats no sync that a signal interrupts, and the transaction
  /// fails; only the sync of a folder is left out.
  private static func isSyncOfSQLite(_ call: String) -> Bool {
    let name = call.split(separator: "/").last.map(String.init) ?? ""
    let ends = ["", "-wal", "-journal"]
    return call.contains("sync ") && ["s", "seed"].contains { store in ends.contains { name == store + $0 } }
  }

  /// Whether the stores are sound as they are, and account for every record that was read.
  func storeProblems() throws -> [String] {
    var found: [String] = []
    for store in ["s", "seed"] where work.exists(store) {
      let rows = try LeftFiles.rows(store, in: work)
      if let line = rows.first(where: { !$0.contains("|") }) { found.append("integrity: \(line)") }
    }
    return try found.isEmpty ? lawProblems() : found
  }

  private func lawProblems() throws -> [String] {
    guard kind.isCounted else { return [] }
    return try Conservation.problems(in: work, deleted: kind.arguments.first == "delete", seed: "seed", isMet: isMet)
  }

  /// The statuses that fit a call that fails.
  private func failures(of fault: Fault, at call: String) -> Set<Int32> {
    var statuses: Set<Int32> = [status, 74]
    // What can't be opened or made may have another reason than the disk.
    if ["open", "mkdir", "mkstemp"].contains(call) { statuses.formUnion([73, 66]) }
    // A lock may be free later. The first of many calls that fail says little of the others.
    if call == "fcntl" || fault.isLasting { statuses.insert(75) }
    return statuses
  }

  /// Runs the repetition in the folder as it is.
  @discardableResult func runAgain() throws -> ProgramOutput { try repetition.run(.none).0 }

  /// Runs it again without a fault: it must reach what undisturbed runs reach, and account for every record.
  ///
  /// - Parameter runsMax: How many runs there were with this one, if none was disturbed.
  func repetitionProblems(after runsMax: Int = 2) throws -> [String] {
    let output = try runAgain()
    let message = output.messages.split(separator: "\n").first.map(String.init) ?? ""
    guard statuses.contains(output.status) else {
      return ["run again: status \(output.status): \(message)"]
    }
    let left = try LeftFiles(work)
    let remains: (String) -> Bool = { [self] in kind.mayOnlyRead && isOfStore($0) }
    let lawProblems = try lawProblems()
    let found = left.differences(from: once, permitting: remains)
    if found.isEmpty { return lawProblems }
    for runs in 2...runsMax where try left.differences(from: leftFiles(by: runs), permitting: remains).isEmpty {
      return lawProblems
    }
    return (lawProblems + found).map { "run again: \($0)\(message.isEmpty ? "" : "; \(message)")" }
  }

  /// What so many undisturbed runs leave, two or more. The folder is theirs then.
  private func leftFiles(by runs: Int) throws -> LeftFiles {
    while more.count < runs - 1 {
      try reset()
      _ = try run()
      for _ in 0...more.count { try runAgain() }
      more.append(try LeftFiles(work))
    }
    return more[runs - 2]
  }

  /// What an image of the disk lacks of what a run has reported as done.
  func lossProblems() throws -> [String] {
    try LeftFiles(work).differences(from: once) { isOfStore($0) || kind.isRemovedAgain($0) }.map { "lost: \($0)" }
  }

  /// What SQLite removes with the next closing.
  private func isOfSQLite(_ name: String) -> Bool { name.hasSuffix("-wal") || name.hasSuffix("-shm") }
  private func isOfStore(_ name: String) -> Bool { isOfSQLite(name) || name.hasSuffix(".lock") }
}
