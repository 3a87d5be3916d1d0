import Foundation
import Glibc
import PersistentStores
import SurfJournal
import TestSupport

@testable import PipelineEngine

/// Runs that are processes of their own: the system refuses them a call, or they stand still while others go on.
extension Simulation {
  func arguments(_ options: StoreModel.Options, _ inputs: [String]) -> [String] {
    var arguments = ["import"] + inputs + ["--pipeline", definitionPath, "--store", store]
    if options.again { arguments.append("--again") }
    if options.changedInputs != pipeline.changedInputs {
      arguments.append(options.changedInputs == .replace ? "--replace" : "--only-new")
    }
    return arguments
  }

  func shim(_ fault: TestSupport.Fault) throws -> [String: String] {
    try Shim.environment(fault, in: folder, page: shimFolder.path("page"))
  }

  // MARK: Refused calls

  func importWithRefusedCall() async throws {
    let path = try drawFile(repeatsOld: random.isOne(in: 2))
    let options = StoreModel.Options(changedInputs: pipeline.changedInputs)
    let fault = Fault.refused(
      at: random.number(1...150), code: random.pick([EIO, ENOSPC], else: EIO), lasts: random.isOne(in: 3))
    _ = try await run([given(path)], options, fault: fault, inputs: [path])
  }

  func refuseCall(_ fault: Fault, to inputs: [String], options: StoreModel.Options) throws {
    guard let refused = fault.ofShim else { return }
    // What it could not remove is the next run's.
    owedFiles.add(inputs, options)
    let output = try Programs.run(
      Simulation.program.path, arguments(options, inputs) + ["-q"], in: folder, environment: try shim(refused))
    let report = try Shim.report(shimFolder.path("page"))
    if report.fired > 0 { refusalCount += 1 }
    tell("\(report.call) was refused: \(output.status) \(output.messages.prefix(200))")
    // An error of the data is that of the input.
    guard [0, 65, 66, 73, 74, 75, 78].contains(output.status) else {
      throw Mismatch(description: "refused \(report.call), a run ended with \(output.status): \(output.messages)")
    }
  }

  // MARK: Several at once

  /// A process stands still at one of its calls. Readers of the store then find whole chunks, another run finds it in use
  /// or is there before it, and the process ends as if it had been alone.
  func importBesideOthers() async throws {
    let path = try drawFile(repeatsOld: random.isOne(in: 2))
    let other = try put(random.text(pipeline), at: folder.path("beside\(stepCount).csv"))
    let options = StoreModel.Options(changedInputs: pipeline.changedInputs)
    try pipeline.json(&random).write(toFile: definitionPath, atomically: false, encoding: .utf8)
    var begun = try begin([given(path)], options)
    let number = random.number(1...300)
    let process = Programs.process(
      Simulation.program.path, arguments(options, [path]) + ["--json"], in: folder,
      environment: try shim(TestSupport.Fault(.stop, at: number)))
    try shimFolder.write("", to: "summary")
    process.standardOutput = try FileHandle(forWritingTo: shimFolder.file("summary"))
    process.standardError = FileHandle.nullDevice
    try process.start()
    defer { process.signal(SIGKILL) }
    if process.waitUntilStopped() {
      tell("it stands still at call \(number), \(try Shim.report(shimFolder.path("page")).call)")
      if isReadable {
        besideCount += 1
        try checkBetween(begun)
        if try hasEnded(begun) {
          tell("its run has ended")
        } else if try await importBeside(other, options) {
          begun = try begin([given(path)], options)
        }
      }
      process.signal(SIGCONT)
    }
    process.waitUntilExit()
    guard process.terminationStatus < 128 else {
      throw Mismatch(description: "the process ended by signal \(process.terminationStatus - 128)")
    }
    try end(begun, summary: try RunSummary(json: shimFolder.data("summary")))
  }

  /// Whether others can read at this moment. For a few calls, such as those that close the last connection, they have to
  /// wait; for a process that stands still there, in vain.
  private var isReadable: Bool {
    guard FileManager.default.fileExists(atPath: store) else { return true }
    do {
      try ShortWaits.during { try OpenedDatabase.openForReading(store, timeoutSeconds: 0).connection.close() }
      return true
    } catch {
      return (error as? SQLiteError)?.isBusy != true
    }
  }

  /// Whether a process that stands still has released the store after its changes, so that another run would be a later
  /// one.
  private func hasEnded(_ begun: Begun) throws -> Bool {
    try records() != begun.records && !FileManager.default.fileExists(atPath: store + ".lock")
  }

  /// What is committed while a process stands still agrees with the ledger's checkpoint.
  private func checkBetween(_ begun: Begun) throws {
    let records = try records()
    var between = model
    _ = between.run(begun.given, begun.options, number: begun.number, records: records)
    try checkRows(between)
  }

  /// - Returns: Whether the other run was there first; otherwise it has found the store in use.
  private func importBeside(_ path: String, _ options: StoreModel.Options) async throws -> Bool {
    let begun = try begin([given(path)], options)
    let summary = try await runner(.import, options, inputs: [path]).run()
    guard summary.exitCode == .temporaryFailure else {
      try end(begun, summary: summary)
      return true
    }
    tell("the store is in use")
    return false
  }
}
