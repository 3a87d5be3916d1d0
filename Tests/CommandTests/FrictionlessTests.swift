import Foundation
import TestSupport
import Testing

/// Readers of frictionless's reports find in ours what it finds, under the same codes. The independent program is
/// installed by `make frictionless`; without it this test is skipped.
@Suite struct FrictionlessTests {
  static let python = Repository.path(".build/peers/bin/python3")
  static let isInstalled =
    FileManager.default.isExecutableFile(atPath: python)
    && (try? Programs.run(python, ["-c", "import frictionless"], in: TemporaryFolder()).status) == 0

  @Test(.enabled(if: isInstalled, "frictionless is not installed: make frictionless"))
  func `Every error that frictionless finds is ours with its code and row, but for those that are listed`() throws {
    let folder = try TemporaryFolder()
    let script = Repository.path("Tests/Peers/frictionless_compare.py")
    let output = try Programs.run(Self.python, [script, Tool.url.path], in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    #expect(output.text.hasPrefix("frictionless "))
  }
}
