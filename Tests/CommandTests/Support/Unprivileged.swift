import Foundation
import Glibc
import TestSupport
import Testing

/// Runs the program as someone whom file permissions concern.
enum Unprivileged {
  static func run(_ arguments: String..., in folder: TemporaryFolder) throws -> ProgramOutput {
    try run(arguments, in: folder)
  }

  /// As root, as the unprivileged user: with a copy of the program in the scratch folder, since a build may lie where
  /// only root can go. Where that user can't even reach the libraries, as root without the right to pass over
  /// permissions.
  static func run(_ arguments: [String], in folder: TemporaryFolder) throws -> ProgramOutput {
    guard getuid() == 0 else { return try Programs.run(Tool.url.path, arguments, in: folder) }
    let copy = folder.path("surfjournal-copy")
    if !folder.exists("surfjournal-copy") { try FileManager.default.copyItem(atPath: Tool.url.path, toPath: copy) }
    try folder.setMode(0o755, of: "surfjournal-copy")
    let bound = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", copy]
    return try run((isNobody(in: folder) ? asNobody(folder) : bound) + arguments, folder)
  }

  /// As the unprivileged user, who may have so many threads; the program ends after a minute.
  static func run(_ arguments: [String], threadsMax: Int, in folder: TemporaryFolder) throws -> ProgramOutput {
    // Makes the copy.
    _ = try run("--version", in: folder)
    let limited = ["bash", "-c", "ulimit -u \(threadsMax); exec timeout -k 1 60 \"$@\"", "bash"]
    return try run(limited + asNobody(folder) + arguments, folder)
  }

  /// Whether the tests can be two users: they run as root, and the unprivileged user reaches what the program needs.
  static let canBeNobody: Bool = {
    guard getuid() == 0, let folder = try? TemporaryFolder() else { return false }
    return (try? run("--version", in: folder)) != nil && (try? isNobody(in: folder)) == true
  }()

  static let nobody: uid_t = 65534

  private static func isNobody(in folder: TemporaryFolder) throws -> Bool {
    try run(asNobody(folder) + ["--version"], folder).status == 0
  }

  private static func asNobody(_ folder: TemporaryFolder) -> [String] {
    ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", folder.path("surfjournal-copy")]
  }

  private static func run(_ words: [String], _ folder: TemporaryFolder) throws -> ProgramOutput {
    try Programs.run("/usr/bin/env", words, in: folder, environment: ["HOME": folder.url.path])
  }
}
