import Foundation

/// Imports with the key date and place.
struct KeyedImports {
  private let source: Contenders
  /// A log of which every other record repeats a key of the store, one in a hundred of them with other values.
  private let log: String
  /// A store that the plain input was imported into with the key.
  private let store: String
  private let program: String

  init(_ source: Contenders) throws {
    self.source = source
    let folder = source.folder
    program = try folder.program("surfjournal")
    log = try Inputs.repeating(rows: source.rows, folder)
    store = folder.output("keyed.sqlite")
    try Tool.run(Self.command(program, policy: "skip", log: source.inputs.plain, store: store))
  }

  func contenders() throws -> [Contender] {
    let raw = source.folder.output("keyed-raw.sqlite")
    try Tool.run([source.folder.program("limit"), "import", log, raw])
    defer { source.folder.remove(raw) }
    let (first, both) = ([source.limitStore], [store, raw])
    return [
      try contender(
        .keyedSkip, policy: "skip", log: source.inputs.plain, expected: Checks.content(of: first, keeping: .first)),
      try contender(
        .keyedUpdate, policy: "update", log: source.inputs.plain, expected: Checks.content(of: first, keeping: .last)),
      try contender(
        .keyedSkipFull, policy: "skip", log: log, into: store, expected: Checks.content(of: both, keeping: .first)),
      try contender(
        .keyedUpdateFull, policy: "update", log: log, into: store, expected: Checks.content(of: both, keeping: .last)),
    ]
  }

  private func contender(
    _ subject: Subject, policy: String, log: String, into store: String? = nil, expected: String
  ) -> Contender {
    let path = source.folder.output("\(subject).sqlite")
    return Contender(
      subject: subject, groups: [.keyed], command: Self.command(program, policy: policy, log: log, store: path),
      outputs: [path],
      rows: source.rows, roundsMax: 3,
      prepare: { if let store { try FileManager.default.copyItem(atPath: store, toPath: path) } },
      check: { _ in
        let found = try Checks.content(of: [path], keeping: nil)
        guard found == expected else { throw BenchmarkFailure("\(path) holds \(found); expected was \(expected)") }
      })
  }

  private static func command(_ program: String, policy: String, log: String, store: String) -> [String] {
    let definition = BenchmarkFolder.repository.appending(path: "Tests/Benchmarks/Pipelines/keyed-\(policy).json").path
    return [program, "import", log, "--pipeline", definition, "--store", store]
  }
}
