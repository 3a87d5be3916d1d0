import Foundation
import TestSupport
import Testing

// SurfJournal commits the generated code of its one entity, so that building the program does not compile the generator.

@Suite("The generated code in the repository is what the generator writes")
struct CommittedCodeTests {
  private static let generator = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appendingPathComponent("modelgen").path

  @Test func `The code of SurfJournalModel is up to date; make generate-model writes it`() throws {
    let folder = try TemporaryFolder()
    let model = Repository.path("Sources/SurfJournal/SurfJournalModel.xcdatamodeld")
    let run = try Programs.run(Self.generator, [model, "SurfJournal", folder.path("new")])
    #expect(run.status == 0, "\(run.messages)")
    let committed = Repository.file("Sources/SurfJournal/Generated")
    let names = try FileManager.default.contentsOfDirectory(atPath: committed.path).sorted()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("new")).sorted() == names)
    #expect(names.count == 3)
    for name in names {
      let text = try String(contentsOf: committed.appendingPathComponent(name), encoding: .utf8)
      #expect(try folder.text("new/\(name)") == text, "\(name)")
    }
  }
}
