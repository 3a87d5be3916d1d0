import Foundation

/// The shared library that lies between a spawned program and the C library: it makes calls on the files of one folder
/// fail, ends the process at a call, or records what a power cut would leave. `Shim/shim.h` describes it.
package enum Shim {
  /// The path of the library, which is compiled once for each run of the tests.
  package static func library() throws -> String { try compiled.get() }

  /// Whether the shim sees allocations: those of a sanitizer are not the C library's.
  package static let seesAllocations = HeldResources().allocatedBytes > 0

  /// The settings under which the allocations of all libraries are counted, and none fails.
  package static let countingMemory = ["SHIM_MEMORY": "all", "SHIM_MEMORY_AT": "\(Int.max)"]

  /// The setting under which a program waits a fiftieth of the time for what does not come.
  package static let hurry = ["SHIM_HURRY": "1"]

  private static let compiled = Result { try compile() }

  /// Compiles next to the tests. The name is that of this process until the library is complete.
  private static func compile() throws -> String {
    let tests = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    let path = tests.deletingLastPathComponent().appendingPathComponent("shim.so").path
    let sources = Repository.path("Tests/TestSupport/Faults/Shim")
    let files = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasSuffix(".c") }.sorted()
    let own = "\(path).\(ProcessInfo.processInfo.processIdentifier)"
    let options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", own]
    let hasClang = try Programs.run("/usr/bin/env", ["clang", "--version"]).status == 0
    let compiler = hasClang ? "clang" : "cc"
    try Programs.output(of: [compiler] + options + files.map { "\(sources)/\($0)" } + ["-ldl", "-lpthread"])
    guard rename(own, path) == 0 else { throw ProgramFailure(description: "\(path) can't be made: errno \(errno)") }
    return path
  }
}

/// What happens to the calls of a program on the files of a folder.
package struct Fault: Sendable, CustomStringConvertible {
  /// Kinds of calls, in the order of the shim's numbers.
  package enum Call: Int, Sendable, CaseIterable {
    case open, read, write, sync, resize, rename, unlink, folders, lock, map, mode, close, list, look

    /// Those that change or wait for something. To end a process before another one would be to end it before the next
    /// of these.
    package static let steps = allCases.filter { ![.list, .look].contains($0) }
  }

  package enum Action: Sendable, Equatable {
    case nothing
    case fail(Int32)
    /// Half of the bytes are read or written.
    case short
    /// A sync that is reported and does not happen.
    case swallow
    case kill
    case terminate
    /// The call takes so much longer.
    case delay(milliseconds: Int32)
    /// The process stops and waits to be continued.
    case stop

    fileprivate var number: Int {
      switch self {
      case .nothing: 0
      case .fail: 1
      case .short: 2
      case .swallow: 3
      case .kill: 4
      case .terminate: 6
      case .delay: 7
      case .stop: 8
      }
    }
  }

  package var action: Action
  /// The calls that are counted.
  package var calls: [Call] = Call.steps
  /// The first call that it happens to, from 1.
  package var number = 0
  /// Whether it happens to all later calls too.
  package var isLasting = false
  /// Only files whose name ends so are counted.
  package var nameEnd = ""

  package init(_ action: Action, calls: [Call] = Call.steps, at number: Int = 0) {
    self.action = action
    self.calls = calls
    self.number = number
  }

  package static let none = Fault(.nothing)

  package var description: String { "\(action) at call \(number)\(isLasting ? " and later" : "")" }

  fileprivate var environment: [String: String] {
    let error: Int32 =
      switch action {
      case .fail(let code): code
      case .delay(let milliseconds): milliseconds
      default: 0
      }
    return [
      "SHIM_KINDS": "\(calls.reduce(0) { $0 | 1 << $1.rawValue })", "SHIM_AT": "\(number)",
      "SHIM_ACTION": "\(action.number)", "SHIM_ERROR": "\(error)", "SHIM_STICKY": isLasting ? "1" : "0",
      "SHIM_NAME": nameEnd,
    ]
  }
}

/// What the shim counted during a run.
package struct ShimReport: Sendable {
  package let counts: [Fault.Call: Int]
  /// The calls of the kinds that were asked for.
  package let counted: Int
  /// How often something was made to happen.
  package let fired: Int
  /// Allocations. Counted only where one is to fail, and only SQLite's unless those of all are asked for.
  package let allocations: Int
  /// The bytes of those allocations that are not SQLite's.
  package let allocatedBytes: Int
  /// The steps of SQLite's virtual machine.
  package let steps: Int
  /// The first call that something happened to, and its file.
  package let call: String

  /// The layout is `struct shim_page`.
  static let bytesCount = 4096
  init(_ page: Data) {
    let number = { (start: Int) in page[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) } }
    let numbers = stride(from: 0, to: 160, by: 8).map(number)
    counts = Dictionary(uniqueKeysWithValues: Fault.Call.allCases.map { ($0, numbers[$0.rawValue]) })
    counted = numbers[16]
    fired = numbers[17]
    allocations = numbers[19]
    (allocatedBytes, steps) = (number(416), number(424))
    call = String(decoding: page[160..<416].prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension Shim {
  /// The environment under which a program meets `fault` on the files in `folder`, and counts into the file `page`.
  package static func environment(
    _ fault: Fault, in folder: TemporaryFolder, page: String, recording record: String? = nil
  ) throws -> [String: String] {
    try Data(count: ShimReport.bytesCount).write(to: URL(fileURLWithPath: page))
    var environment = fault.environment
    environment["LD_PRELOAD"] = try library()
    environment["SHIM_FOLDER"] = folder.url.path
    environment["SHIM_PAGE"] = page
    // A crash is seen by its signal; writing a backtrace takes longer than the run.
    environment["SWIFT_BACKTRACE"] = "enable=no"
    if let record { environment["SHIM_RECORD"] = record }
    return environment
  }

  /// What was counted into the file `page` until now.
  package static func report(_ page: String) throws -> ShimReport {
    ShimReport(try Data(contentsOf: URL(fileURLWithPath: page)))
  }
}
