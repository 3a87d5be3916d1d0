import CSV
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The checksum file next to an output: checked by another program, and read back by ours.
@Suite struct ChecksumFileTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func export(_ output: String, count: Int = 300, split: ExportDefinition.Split? = nil) async throws
    -> RunSummary
  {
    let store = folder.path("s")
    if !FileManager.default.fileExists(atPath: store) {
      _ = try await run(.plain(), .import, inputs: [try folder.write(log(count), to: "in.csv")], store: store)
    }
    return try await run(.plain { $0.export = ExportDefinition(split: split, hash: true) }, .export, store: store) {
      $0.output = folder.path(output)
    }
  }

  /// What `xxhsum` says of its arguments, and its exit status.
  private func xxhsum(_ arguments: String...) throws -> (output: String, status: Int32) {
    let output = try Programs.run("/usr/bin/env", ["xxhsum"] + arguments, in: folder)
    return (output.text, output.status)
  }

  @Test(arguments: ["log.csv", "log.csv.gz", "ride the wave.csv", "Kauaʻi \\ 'log'.csv.gz"])
  func `xxhsum checks it, and finds a changed byte`(name: String) async throws {
    let summary = try await export(name)
    #expect(summary.exitCode == .ok, "\(summary.text())")
    let lines = try folder.text(name + ".xxh128").split(separator: "\n")
    #expect(try xxhsum("-H2", name).output == lines[0] + "\n")
    let good = try xxhsum("-c", name + ".xxh128")
    #expect(good.status == 0)
    #expect(good.output.contains("\(name): OK"))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.path(name)))
    #expect(try xxhsum("-c", name + ".xxh128").status == 1)
  }

  @Test(arguments: ["log.csv", "log.csv.gz"])
  func `It is read back, and the content's hash is that of a reader`(name: String) async throws {
    let summary = try await export(name)
    let checksums = try ChecksumFile.read(for: folder.path(name))
    let source = try ByteSource(path: folder.path(name))
    var content: [UInt8] = []
    while try source.read(appendingTo: &content) > 0 {}
    let hash = ContentHash()
    hash.update(content)
    #expect(checksums.content == hash.digest)
    #expect(checksums.contentBytes == content.count)
    #expect(checksums.records == 300)
    #expect(checksums.stored.hex == (try xxhsum("-H2", name).output.prefix(32)))
    #expect(summary.outputs.map(\.contentHash) == [checksums.content.hex])
    let size = try FileManager.default.attributesOfItem(atPath: folder.path(name))[.size] as? Int
    #expect(summary.outputs.map(\.bytes) == [size])
  }

  @Test func `Each file of a split export has its own`() async throws {
    let summary = try await export("log.csv.gz", split: .rows(70))
    #expect(summary.outputs.map(\.records) == [70, 70, 70, 70, 20])
    for file in summary.outputs {
      let checksums = try ChecksumFile.read(for: file.path)
      #expect(checksums.records == file.records)
      #expect(checksums.content.hex == file.contentHash)
      #expect(try xxhsum("-c", ChecksumFile.path(for: file.path)).status == 0)
    }
  }

  @Test func `A hash is stated without a hash file too, also of what goes through a pipe`() async throws {
    _ = try await export("log.csv")
    let summary = try await run(.plain(), .export, store: folder.path("s")) { $0.output = "/dev/null" }
    #expect(summary.outputs.first?.contentHash == (try ChecksumFile.read(for: folder.path("log.csv"))).content.hex)
  }

  @Test func `What is missing or changed is refused`() async throws {
    let missing = #expect(throws: RunFailure.self) { try ChecksumFile.read(for: folder.path("none.csv")) }
    #expect(missing?.exitCode == .noInput)
    _ = try await export("log.csv")
    let text = try folder.text("log.csv.xxh128")
    for changed in [
      "", text + "x", text.replacing("records", with: "rows"), String(text.dropFirst()), text.replacing("#", with: ""),
    ] {
      _ = try folder.write(changed, to: "log.csv.xxh128")
      let error = #expect(throws: RunFailure.self) { try ChecksumFile.read(for: folder.path("log.csv")) }
      #expect(error?.exitCode == .dataError)
    }
  }

  @Test func `A name with a line break is refused, for a hash file could not hold it`() async throws {
    let error = await #expect(throws: PipelineError.self) { try await export("a\nb.csv") }
    #expect(error?.path == "export.hash")
  }
}
