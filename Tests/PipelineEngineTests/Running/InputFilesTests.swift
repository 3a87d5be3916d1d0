import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Sources that are patterns: which files they mean, in which order.
@Suite struct InputFilesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for path in [
      "logs/b.csv", "logs/a.csv", "logs/c.csv.gz", "logs/.hidden.csv", "logs/notes.txt", "logs/ab.csv/inner.csv",
      "logs/2024/x.csv", "logs/2024/05/y.csv", "logs/.git/z.csv", "odd [1].csv", "odd 1.csv", "{a,b}.csv",
    ] {
      let url = folder.url.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("date\n".utf8).write(to: url)
    }
  }

  private func expand(_ source: [String], optional: Bool = false, base: URL? = nil) -> [InputFile] {
    InputFiles.expand(
      PipelineDefinition(
        name: "n", source: source, sourceOptional: optional, columns: [ColumnDefinition("date")],
        baseDirectory: base ?? folder.url, vocabulary: .journal))
  }

  static let patterns: [(source: [String], names: [String])] = [
    (["logs/*.csv"], ["logs/a.csv", "logs/b.csv"]),
    (["logs/*.csv*"], ["logs/a.csv", "logs/b.csv", "logs/c.csv.gz"]),
    (["logs/?.csv"], ["logs/a.csv", "logs/b.csv"]),
    (["logs/[b-z].*"], ["logs/b.csv", "logs/c.csv.gz"]),
    (["logs/{b,a}.csv"], ["logs/a.csv", "logs/b.csv"]),
    (["logs/*.{csv,txt}"], ["logs/a.csv", "logs/b.csv", "logs/notes.txt"]),
    (
      ["logs/**/*.csv"], ["logs/2024/05/y.csv", "logs/2024/x.csv", "logs/a.csv", "logs/ab.csv/inner.csv", "logs/b.csv"]
    ),
    (["logs/2024/**"], ["logs/2024/05/y.csv", "logs/2024/x.csv"]),
    (["**/05/*.csv"], ["logs/2024/05/y.csv"]), (["**/**/05/*.csv"], ["logs/2024/05/y.csv"]),
    (["logs/**/**/**/y.csv", "./**/**/x.csv"], ["logs/2024/05/y.csv", "./logs/2024/x.csv"]),
    (["logs/2024/**/**"], ["logs/2024/05/y.csv", "logs/2024/x.csv"]),
    (["logs/{{b,c},a}.{csv,{gz,none}}"], ["logs/a.csv", "logs/b.csv"]),
    (["./logs/a*"], ["./logs/a.csv"]),
    // The order of the sources first, and each file once.
    (["logs/b.csv", "logs/*.csv"], ["logs/b.csv", "logs/a.csv"]),
    (["logs/*.csv", "logs/a.csv"], ["logs/a.csv", "logs/b.csv", "logs/a.csv"]),
    (["logs/a.csv", "logs/a.csv"], ["logs/a.csv", "logs/a.csv"]),
    // What is there is taken as it is written.
    (["odd [1].csv"], ["odd [1].csv"]), (["{a,b}.csv"], ["{a,b}.csv"]), (["odd*"], ["odd 1.csv", "odd [1].csv"]),
    (["-"], ["-"]), (["none.csv"], ["none.csv"]), (["no*.csv"], ["no*.csv"]),
  ]

  @Test(arguments: patterns)
  func `A pattern means the files it matches, in the order of their names`(source: [String], names: [String]) {
    #expect(expand(source).map(\.name) == names)
  }

  @Test func `A match has its path, whatever the folder is called`() throws {
    let odd = folder.url.appendingPathComponent("a [b] {c,d} *")
    try FileManager.default.createDirectory(at: odd, withIntermediateDirectories: true)
    try Data().write(to: odd.appendingPathComponent("x.csv"))
    let found = expand(["*.csv"], base: odd)
    #expect(found.map(\.name) == ["x.csv"])
    #expect(found.map(\.path) == [odd.appendingPathComponent("x.csv").path])
    let below = expand(["a*/**/*.csv"])
    #expect(below.map(\.path) == found.map(\.path))
    #expect(expand([folder.path("logs/*.csv")]).map(\.name) == [folder.path("logs/a.csv"), folder.path("logs/b.csv")])
  }

  @Test func `What is not there is an input that can't be read, unless sources are optional`() {
    #expect(expand(["no*.csv"]).map(\.isUnmatchedPattern) == [true])
    #expect(expand(["none.csv"]).map(\.isUnmatchedPattern) == [false])
    #expect(expand(["no*.csv", "none.csv", "logs/a.csv"], optional: true).map(\.name) == ["logs/a.csv"])
  }

  @Test func `Folders of any depth are searched, and one whose path is too long is refused`() async throws {
    let script = """
      import os, sys
      os.chdir(sys.argv[1])
      name, depth, place = sys.argv[2], int(sys.argv[3]), ""
      for level in range(depth):
          os.mkdir(name)
          os.chdir(name)
      open("deep.csv", "w").write("date")
      """
    func make(_ top: String, _ name: String, depth: Int) throws {
      try FileManager.default.createDirectory(atPath: folder.path(top), withIntermediateDirectories: true)
      _ = try Programs.python(script, folder.path(top), name, "\(depth)", in: folder)
    }
    try make("deep", "d", depth: 300)
    #expect(expand(["deep/**/*.csv"]).map(\.name) == ["deep/" + String(repeating: "d/", count: 300) + "deep.csv"])
    try make("long", String(repeating: "l", count: 200), depth: 30)
    defer { _ = try? Programs.run("/bin/rm", ["-rf", folder.path("long")]) }
    try folder.write("date,location,rating\n2020-01-01,Rincon,3\n", to: "long/a.csv")
    let found = expand(["long/**/*.csv"])
    #expect(found.map(\.name) == ["long/a.csv", "long/**/*.csv"])
    let failure = try #require(found.last?.failure)
    #expect(failure.exitCode == .noInput)
    #expect(failure.message.contains("long/**/*.csv can't be expanded") && failure.message.contains("4096"))
    #expect(expand(["long/**/*.csv"], optional: true).last?.failure != nil)
  }

  @Test func `A pattern of very many alternatives is refused before it is expanded`() throws {
    let failure = try #require(expand([String(repeating: "{a,b}", count: 60)], optional: true).first?.failure)
    #expect(failure.exitCode == .configuration)
    #expect(failure.message.contains("stands for more than 10000 paths"), "\(failure.message)")
    for (groups, isRefused) in [(100, false), (101, true)] {
      let failure = expand([String(repeating: "{a}", count: groups)], optional: true).first?.failure
      #expect(failure?.message.contains("has 101 groups {…}") ?? false == isRefused)
    }
    #expect(expand(["logs/{{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9},a}.csv"]).map(\.name) == ["logs/a.csv"])
  }

  @Test func `A link that leads back up is not followed for ever`() throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("logs/2024/up"), withDestinationPath: folder.path("logs"))
    #expect(expand(["logs/2024/**/*.csv"]).map(\.name) == ["logs/2024/05/y.csv", "logs/2024/x.csv"])
  }

  @Test func `A run reads what matches, and goes on where a pattern matches nothing`() async throws {
    let store = folder.path("s.sqlite")
    var definition = PipelineDefinition.plain {
      $0.source = ["new/*.csv"]
      $0.baseDirectory = folder.url
    }
    try FileManager.default.createDirectory(atPath: folder.path("new"), withIntermediateDirectories: true)
    for name in ["2.csv", "1.csv"] { _ = try folder.write(log(2), to: "new/\(name)") }
    func run() async throws -> RunSummary {
      var options = RunOptions()
      options.store = store
      options.model = RunModel.make()
      return try await PipelineRunner(definition, .import, options: options).run()
    }
    let first = try await run()
    #expect(first.inputs.map(\.path) == ["new/1.csv", "new/2.csv"])
    #expect(first.exitCode == .ok)
    definition.source = ["old/*.csv", "new/1.csv"]
    let second = try await run()
    #expect(second.exitCode == .noInput)
    #expect(second.failure?.code == .sourceError)
    #expect(second.failure?.message.hasPrefix("no file matches the pattern old/*.csv; ") == true)
    #expect(second.issues.listed.map(\.code) == [.sourceError])
    #expect(second.inputs.map(\.path) == ["new/1.csv"])
    definition.source = ["old/*.csv"]
    definition.sourceOptional = true
    let third = try await run()
    #expect(third.exitCode == .ok)
    #expect(third.inputs.isEmpty)
  }
}
