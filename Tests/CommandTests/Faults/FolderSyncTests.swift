import Foundation
import Glibc
import TestSupport
import Testing

/// Names are on the disk when the folder that has them is synced. A folder that can't be opened for it is an error, unless
/// the user may change and not read it: its names are then as durable as the system makes them by itself.
@Suite struct FolderSyncTests {
  struct Place: Sendable, CustomTestStringConvertible {
    let kind: RunKind
    /// The end of the folder's path; empty for the folder of the run.
    let folder: String
    /// What the message names.
    let named: String
    var testDescription: String { kind.name }
  }

  static let places = [
    Place(
      kind: RunKind(
        name: "export", arguments: ["export", "--store", "s", "-o", "out/new.csv", "-q"], mayOnlyRead: true
      ) {
        try RunKind.export.prepare($0)
        try $0.makeFolder("out")
      }, folder: "/out", named: "out/new.csv"),
    Place(
      kind: RunKind(name: "import", arguments: RunKind.load("p.json") + ["--rejects", "out/"]) {
        try RunKind.plain.prepare($0)
        try $0.makeFolder("out")
      }, folder: "/out", named: "out/log.csv.rejects.csv"),
    Place(
      kind: RunKind(
        name: "seed",
        arguments: ["seed"] + RunKind.seed.arguments.dropFirst().map { $0 == "seed" ? "out/seed" : $0 }
      ) {
        try RunKind.seed.prepare($0)
        try $0.makeFolder("out")
      }, folder: "/out", named: "out/seed"),
    Place(kind: .replay, folder: "", named: "log.csv.rejects.csv"),
    Place(kind: .inbox, folder: "/in", named: "/in can't be synced"),
  ]

  @Test(arguments: places, [EIO, EMFILE, ENOMEM])
  func `A folder that can't be opened to sync its names ends the run with 74`(_ place: Place, _ code: Int32) throws {
    let stage = try FaultStage(place.kind)
    try stage.reset()
    let (output, report) = try stage.run(fault(code, at: place, in: stage.work))
    #expect(report.fired > 0)
    #expect(output.status == 74, "\(output.status) \(output.messages)")
    #expect(output.messages.contains(place.named), "\(output.messages)")
    expectNone(try stage.repetitionProblems())
  }

  @Test(arguments: places, [EACCES, EPERM])
  func `One that may be changed and not read is passed over`(_ place: Place, _ code: Int32) throws {
    let stage = try FaultStage(place.kind)
    try stage.reset()
    let (output, report) = try stage.run(fault(code, at: place, in: stage.work))
    #expect(report.fired > 0)
    #expect(output.status == stage.status, "\(output.status) \(output.messages)")
    #expect(try LeftFiles(stage.work).differences(from: stage.once) == [])
  }

  private func fault(_ code: Int32, at place: Place, in work: TemporaryFolder) -> Fault {
    var fault = Fault(.fail(code), calls: [.open], at: 1)
    fault.nameEnd = place.folder.isEmpty ? work.url.path : place.folder
    fault.isLasting = true
    return fault
  }
}
