import Foundation
import Glibc

/// The processes below one that a test has started.
package struct ProcessTree {
  package struct Member {
    package let pid: pid_t
    /// The words of its command line.
    package let command: String

    /// Whether it runs, and does not only wait for its parent to take its status.
    package var isRunning: Bool { !["", "Z", "X"].contains(ProcessTree.status(of: pid).first ?? "") }

    /// Ends it without giving it a chance to react.
    package func kill() { Glibc.kill(pid, SIGKILL) }
  }

  /// Those that run now.
  package let members: [Member]

  /// Reads the tree from /proc: the parent of each process, and then who leads to `root`.
  package init(below root: pid_t) {
    let all = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
    let children = Dictionary(grouping: all, by: Self.parent)
    var (found, next) = ([pid_t](), [root])
    while let pid = next.popLast() {
      let below = children[pid] ?? []
      found += below
      next += below
    }
    members = found.map { Member(pid: $0, command: Self.command(of: $0)) }
  }

  /// 0 for one that has ended meanwhile.
  private static func parent(of pid: pid_t) -> pid_t {
    status(of: pid).dropFirst().first.flatMap { pid_t($0) } ?? 0
  }

  /// The state, the parent and what else follows the name in the system's status; empty for one that is gone.
  private static func status(of pid: pid_t) -> [Substring] {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    // The name in parentheses may contain spaces.
    guard let end = text.lastIndex(of: ")") else { return [] }
    return text[end...].split(separator: " ").dropFirst().map(\.self)
  }

  private static func command(of pid: pid_t) -> String {
    let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
    return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\0", with: " ")
  }
}
