import Foundation
import Glibc
import Testing

/// Runs the program as a user whom file permissions concern.
enum Unprivileged {
  /// As root, as nobody: with a copy of the program in the scratch folder, since a build may lie where only root can
  /// go.
  static func run(_ arguments: [String], in folder: Scratch) throws -> ToolOutput {
    guard getuid() == 0 else { return try Programs.run(Tool.url.path, arguments, in: folder) }
    let copy = folder.path("surfjournal-copy")
    if !folder.exists("surfjournal-copy") {
      try FileManager.default.copyItem(atPath: Tool.url.path, toPath: copy)
    }
    try folder.setMode(0o755, of: "surfjournal-copy")
    return try Programs.run(
      "/usr/bin/env",
      ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy] + arguments, in: folder,
      environment: ["HOME": folder.root.path])
  }

  static func run(_ arguments: String..., in folder: Scratch) throws -> ToolOutput {
    try run(arguments, in: folder)
  }
}
