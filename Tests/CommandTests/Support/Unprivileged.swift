import Foundation
import Glibc
import TestSupport
import Testing

/// Runs the program as someone whom file permissions concern.
enum Unprivileged {
  static func run(_ arguments: String..., in folder: TemporaryFolder) throws -> ProgramOutput {
    try run(arguments, in: folder)
  }

  /// As root, as nobody: with a copy of the program in the scratch folder, since a build may lie where only root can
  /// go. Where nobody can't even reach the libraries, as root without the right to pass over permissions.
  static func run(_ arguments: [String], in folder: TemporaryFolder) throws -> ProgramOutput {
    guard getuid() == 0 else { return try Programs.run(Tool.url.path, arguments, in: folder) }
    let copy = folder.path("surfjournal-copy")
    if !folder.exists("surfjournal-copy") { try FileManager.default.copyItem(atPath: Tool.url.path, toPath: copy) }
    try folder.setMode(0o755, of: "surfjournal-copy")
    let asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy]
    let bound = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", copy]
    let canBeNobody = try run(asNobody + ["--version"], folder).status == 0
    return try run((canBeNobody ? asNobody : bound) + arguments, folder)
  }

  private static func run(_ words: [String], _ folder: TemporaryFolder) throws -> ProgramOutput {
    try Programs.run("/usr/bin/env", words, in: folder, environment: ["HOME": folder.url.path])
  }
}
