import CSV
import Foundation

/// The inputs, the programs and the order in which they are timed.
struct Bench {
  private struct Contender {
    let name: String
    /// The limit that this one's speed is a share of.
    let limit: String?
    let command: [String]
    /// Where it writes; removed before each run.
    var outputs: [String] = []
  }

  private let options: Options
  private let folder: URL
  private let input: String
  private let rows: Int

  init(_ options: Options) throws {
    self.options = options
    folder = URL(fileURLWithPath: ".build/bench", isDirectory: true).absoluteURL
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    input = options.input ?? folder.appendingPathComponent("log-\(options.rows).csv").path
    if options.input == nil, !FileManager.default.fileExists(atPath: input) {
      try InputGenerator.write(rows: options.rows, to: input, gzip: false)
    }
    rows = try Self.recordCount(input)
    try Self.compress(input, to: folder.appendingPathComponent("input.csv.gz").path)
  }

  func run() throws -> Table {
    let contenders = try contenders()
    var measured: [String: [Measurement]] = [:]
    // One round warms the disk's cache and is not counted. Contenders take turns, so that a slow minute of the
    // machine is everybody's.
    for round in 0...options.rounds {
      for contender in contenders {
        for path in contender.outputs { remove(path) }
        let measurement = try MeasuredProcess.run(contender.command)
        if round > 0 { measured[contender.name, default: []].append(measurement) }
      }
    }
    try checkResults()
    let lines = contenders.map { contender in
      Table.Line(contender.name, measured[contender.name] ?? [], limit: contender.limit)
    }
    return Table(lines: lines, rows: rows, rounds: options.rounds)
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  private func contenders() throws -> [Contender] {
    let program = CommandLine.arguments[0]
    func child(_ name: String, _ kind: String, _ file: String, _ store: String, limit: String?, output: String? = nil)
      -> Contender
    {
      Contender(
        name: name, limit: limit, command: [program, "child", kind, file, store], outputs: [output].compactMap { $0 })
    }
    let (store, gz) = (path("ours.sqlite"), path("input.csv.gz"))
    var result: [Contender] = []
    let limits = try limitPrograms()
    let (importLimit, exportLimit) = (limits == nil ? nil : "C limit, import", limits == nil ? nil : "C limit, export")
    if let limits {
      result.append(
        Contender(
          name: "C limit, import", limit: nil,
          command: [limits.imp, input, path("limit.sqlite"), "vtab=1", "pipe=1", "ckthread=1"]))
    }
    result += [
      child("import, three contexts", "import", input, store, limit: importLimit, output: store),
      child(
        "import, one context", "import-one", input, path("one.sqlite"), limit: importLimit, output: path("one.sqlite")),
      child("import, gzip", "import", gz, path("gz.sqlite"), limit: importLimit, output: path("gz.sqlite")),
      child("dry run", "validate", input, "none", limit: importLimit),
    ]
    if let limits {
      result.append(
        Contender(
          name: "C limit, export", limit: nil,
          command: [limits.exp, path("limit.sqlite"), path("limit.csv"), "order=pk", "page=cursor"]))
    }
    result += [
      child("export", "export", path("ours.csv"), store, limit: exportLimit, output: path("ours.csv")),
      child("export, gzip", "export", path("ours.csv.gz"), store, limit: exportLimit),
      Contender(
        name: "sqlite3 .import, no checks", limit: importLimit,
        command: ["sqlite3", path("shell.sqlite"), ".mode csv", ".import '\(input)' log"],
        outputs: [path("shell.sqlite")]),
    ]
    return result
  }

  /// The C programs that mark the limit are built from the folder of yardsticks beside the repository. A plain clone
  /// has none: then the table says so and gives no ratios.
  private func limitPrograms() throws -> (imp: String, exp: String)? {
    let shared =
      ProcessInfo.processInfo.environment["SURFJOURNAL_SHARED"].map { URL(fileURLWithPath: $0) }
      ?? URL(fileURLWithPath: "../shared")
    let source = shared.appendingPathComponent("bench").path
    guard FileManager.default.fileExists(atPath: source + "/imp.c") else { return nil }
    _ = try MeasuredProcess.run(["make", "-C", source, "BIN=" + path("bin"), path("bin/imp"), path("bin/exp")])
    return (path("bin/imp"), path("bin/exp"))
  }

  // MARK: What was measured is what was asked for

  private func checkResults() throws {
    for store in ["ours.sqlite", "one.sqlite", "gz.sqlite"] {
      let count = try Self.output(["sqlite3", path(store), "SELECT count(*) FROM ZJOURNALENTRY"])
      guard count == "\(rows)" else {
        throw MeasuredProcess.Failure(description: "\(store) holds \(count) rows instead of \(rows)")
      }
    }
    guard try Data(contentsOf: URL(fileURLWithPath: path("ours.csv"))) == Data(contentsOf: URL(fileURLWithPath: input))
    else { throw MeasuredProcess.Failure(description: "the export is not the input that was imported") }
  }

  private static func output(_ command: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func recordCount(_ path: String) throws -> Int {
    let reader = try CSVReader(ByteSource(path: path))
    var block = RecordBlock()
    while try reader.next(into: &block, recordsMax: 10_000) {}
    return reader.position.record - 1
  }

  private static func compress(_ path: String, to target: String) throws {
    let source = try ByteSource(path: path)
    let sink = try ByteSink(path: target, compression: .gzip())
    var bytes: [UInt8] = []
    while try source.read(appendingTo: &bytes) > 0 {
      try sink.write(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    try sink.commit()
  }
}
