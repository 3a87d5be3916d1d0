import Foundation
import TestSupport
import Testing

/// The work of a command grows with what it is given, not with its square. What is counted does not depend on the machine
/// or its load: allocations, their bytes, calls on files, and steps of SQLite's virtual machine. Whatever is derived,
/// copied or looked up again for each part of an input shows in one of them.
@Suite(.enabled(if: Shim.seesAllocations, "a sanitizer has an allocator of its own"))
struct GrowingWorkTests {
  private let folder: TemporaryFolder
  private let own: TemporaryFolder
  init() throws { (folder, own) = (try TemporaryFolder(), try TemporaryFolder()) }

  // MARK: Counting

  private typealias Work = [String: Int]

  private func work(of program: String, _ arguments: [String]) throws -> Work {
    let page = own.path("page")
    let environment = try Shim.environment(.none, in: folder, page: page).merging(Shim.countingMemory) { $1 }
    let output = try Programs.run(program, arguments, in: folder, environment: environment)
    try #require([0, 65].contains(output.status), "\(arguments): \(output.status) \(output.messages.prefix(300))")
    let report = try Shim.report(page)
    return [
      "allocations": report.allocations, "allocated bytes": report.allocatedBytes, "steps of SQLite": report.steps,
      "calls on files": report.counts.values.reduce(0, +),
    ]
  }

  /// How much more is added from the second to the third of three inputs, each twice as large as the one before, than
  /// from the first to the second: what is always done does not count. Linear work comes to 2, quadratic work to 4.
  private static func growth(_ works: [Work]) -> [(part: String, ratio: Double)] {
    works[0].keys.sorted().map { part in
      let values = works.map { Double($0[part] ?? 0) }
      // Threads and buffers make small numbers differ; what does not grow does not count.
      let first = max(values[1] - values[0], values[0] / 20, 50)
      return (part, (values[2] - values[1]) / first)
    }
  }

  private static let ratioMax = 2.3

  private func expectLinear(_ command: String, _ works: [Work]) {
    for (part, ratio) in Self.growth(works) {
      #expect(ratio < Self.ratioMax, "\(command): \(part) grow by \(ratio), \(works.map { $0[part] ?? 0 })")
    }
  }

  // MARK: Columns

  /// Puts a model of an entity with so many attributes, and a file with some records of all of them, into the folder.
  private func writeWide(_ columns: Int) throws {
    let types = ["String", "Integer 64", "Double", "Date"]
    let values = ["text", "7", "1.5", "2020-01-01T00:00:00Z"]
    let attributes = (0..<columns).map {
      "<attribute name=\"c\($0)\" optional=\"YES\" attributeType=\"\(types[$0 % 4])\"/>"
    }
    try folder.makeFolder("Wide\(columns).xcdatamodel")
    try folder.write(
      "<model><entity name=\"Wide\">\(attributes.joined())</entity></model>", to: "Wide\(columns).xcdatamodel/contents")
    let record = (0..<columns).map { values[$0 % 4] }.joined(separator: ",") + "\n"
    let header = (0..<columns).map { "c\($0)" }.joined(separator: ",") + "\n"
    try folder.write(header + String(repeating: record, count: 20), to: "wide\(columns).csv")
    // With chunks of a few rows an export's work hardly depends on how many of its threads find a free batch.
    let names = (0..<columns).map { "\"c\($0)\"" }.joined(separator: ",")
    try folder.write(
      "{\"name\": \"wide\", \"entity\": \"Wide\", \"model\": \"Wide\(columns).xcdatamodel\", \"chunkRows\": 10, "
        + "\"columns\": [\(names)]}", to: "wide\(columns).json")
  }

  @Test func `An import and an export of twice as many columns do twice as much`() throws {
    let commands = ["import", "validate", "export", "list", "verify"]
    var works: [String: [Work]] = [:]
    for columns in [256, 512, 1024] {
      try writeWide(columns)
      let model = ["--entity", "Wide", "--model", "Wide\(columns).xcdatamodel"]
      let store = "s\(columns)"
      for command in commands {
        let arguments =
          switch command {
          case "import": ["wide\(columns).csv", "--store", store, "-q"] + model
          case "validate": ["wide\(columns).csv", "-q"] + model
          case "export": ["--store", store, "-o", "out\(columns).csv", "-q", "--pipeline", "./wide\(columns).json"]
          case "list": ["--store", store] + model
          default: [store]
          }
        works[command, default: []].append(try work(of: Tool.url.path, [command] + arguments))
      }
      #expect(try folder.text("out\(columns).csv").split(separator: "\n").count == 21)
    }
    for command in commands { expectLinear(command, works[command] ?? []) }
  }

  // MARK: Entities

  @Test(arguments: ["many", "family"])
  func `A store with twice as many entities is twice as much work`(_ name: String) throws {
    let commands = [
      ["inspect"], ["verify"], ["list", "--store"],
      ["export", "--entity", "E1", "--guess-model", "-q", "-o", "-", "--store"],
    ]
    let most = TestLength.isLong ? 14_336 : 3584
    var works: [[Work]] = commands.map { _ in [] }
    for count in [most / 4, most / 2, most] {
      try HostileStores.write(name, entities: count, in: folder)
      for (index, command) in commands.enumerated() {
        works[index].append(try work(of: Tool.url.path, command + ["\(name).sqlite"]))
      }
      try FileManager.default.removeItem(at: folder.file("\(name).sqlite"))
    }
    for (command, works) in zip(commands, works) { expectLinear(command[0], works) }
  }

  // MARK: Model files

  /// Allocations do not show a walk over all entities for each of them. The processor's time does; other processes
  /// disturb it a little, so the least of some measurements counts.
  private func processorSeconds(_ arguments: [String]) throws -> Double {
    let script = """
      import resource, subprocess, sys
      subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
      usage = resource.getrusage(resource.RUSAGE_CHILDREN)
      print(usage.ru_utime + usage.ru_stime)
      """
    let outputs = try (0..<3).map { _ in try Programs.output(of: ["python3", "-c", script] + arguments, in: folder) }
    return try #require(outputs.compactMap { Double($0.trimmingCharacters(in: .newlines)) }.min())
  }

  /// Linear work comes to 2, quadratic work to 4.
  private static func growth(_ seconds: [Double]) -> Double {
    (seconds[2] - seconds[1]) / max(seconds[1] - seconds[0], 0.01)
  }
  private static let secondsRatioMax = 3.0

  /// Models of a number of entities, as the declarations of the one with the number.
  static let models: [(name: String, entity: @Sendable (_ number: Int, _ count: Int) -> String)] = [
    ("flat", { number, _ in "<entity name=\"E\(number)\">\(attribute)</entity>" }),
    (
      "family",
      { number, _ in
        "<entity name=\"E\(number)\"\(number == 0 ? ">\(attribute)" : " parentEntity=\"E0\">")</entity>"
      }
    ),
    (
      "circle", { number, count in "<entity name=\"E\(number)\" parentEntity=\"E\((number + 1) % count)\"></entity>" }
    ),
    (
      "linked",
      { number, count in
        """
        <entity name="E\(number)">\(attribute)
        <relationship name="next" optional="YES" maxCount="1" destinationEntity="E\((number + 1) % count)" \
        inverseName="last" inverseEntity="E\((number + 1) % count)"/>
        <relationship name="last" optional="YES" maxCount="1" destinationEntity="E\((number + count - 1) % count)" \
        inverseName="next" inverseEntity="E\((number + count - 1) % count)"/></entity>
        """
      }
    ),
  ]
  private static let attribute = "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"

  @Test(arguments: models.map(\.name))
  func `A model file with twice as many entities is twice as much work`(_ name: String) throws {
    let model = try #require(Self.models.first { $0.name == name })
    // No tables are made, which costs SQLite a look at all of them for each.
    let seconds = try [2000, 4000, 8000].map { count in
      let file = "\(name)\(count).xcdatamodel"
      try folder.makeFolder(file)
      let entities = (0..<count).map { model.entity($0, count) }
      try folder.write("<model>\(entities.joined(separator: "\n"))</model>", to: "\(file)/contents")
      try folder.write(
        #"{ "name": "p", "entity": "E0", "model": "\#(file)", "columns": ["a"] }"#, to: "\(name)\(count).json")
      return try processorSeconds([Tool.url.path, "check", "./\(name)\(count).json"])
    }
    #expect(Self.growth(seconds) < Self.secondsRatioMax, "\(seconds)")
  }

  @Test func `The processor's time shows a walk over all parts for each of them`() throws {
    let script = "import sys; n = int(sys.argv[1]); parts = [0] * n\nfor i in range(n): sum(parts)"
    let seconds = try [4000, 8000, 16_000].map { try processorSeconds(["python3", "-c", script, String($0)]) }
    #expect(Self.growth(seconds) > Self.secondsRatioMax, "\(seconds)")
  }

  // MARK: Memory

  /// Batches end by their bytes too: 5,000 rows of long texts would not fit into memory.
  @Test func `An export of twice as many long texts takes the memory of some`() throws {
    let make = """
      import sys
      print("date,location")
      for n in range(int(sys.argv[1])): print(f"2020-01-01T00:00:00Z,{n:07}" + "a" * 900_000)
      """
    let script = """
      import resource, subprocess, sys
      subprocess.run(sys.argv[1:], check=True)
      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      """
    let megabytes = try [60, 160].map { count in
      try folder.write(try Programs.python(make, String(count), in: folder), to: "long.csv")
      let made = try Tool.run(
        "import", "long.csv", "--store", "long\(count)", "--entity", "JournalEntry", "--chunk-rows", "20", "-q",
        in: folder)
      try #require(made.status == 0, "\(made.messages)")
      let output = try Programs.output(
        of: ["python3", "-c", script, Tool.url.path, "export", "--store", "long\(count)", "-o", "out.csv", "-q"],
        in: folder)
      return try #require(Int(output.trimmingCharacters(in: .newlines))) / 1024
    }
    // The larger one has 90 MB more, and took 170 MB more when 5,000 rows were held.
    #expect(megabytes[1] - megabytes[0] < 60, "\(megabytes)")
  }

  // MARK: Canaries

  @Test func `Work that grows with the square is found, whatever it consists of`() throws {
    let scripts = [
      ("allocated bytes", "for i in range(n): [0] * n * 8"),
      ("allocations", "for i in range(n):\n  for k in range(n): bytearray(600)"),
      ("calls on files", "for i in range(n * n // 64): open('a').close()"),
      (
        "steps of SQLite",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table t (i)')\n"
          + "c.executemany('insert into t values (?)', [[i] for i in range(n)])\n"
          + "for i in range(n): c.execute('select count(*) from t where i = ?', [i]).fetchall()\nc.close()"
      ),
    ]
    try folder.write("", to: "a")
    for (part, script) in scripts {
      let works = try [64, 128, 256].map { n in
        try work(of: "/usr/bin/env", ["python3", "-c", "n = \(n)\n\(script)"])
      }
      let ratio = Self.growth(works).first { $0.part == part }?.ratio ?? 0
      #expect(ratio > Self.ratioMax + 0.5, "\(part): \(ratio) \(works.map { $0[part] ?? 0 })")
    }
  }
}
