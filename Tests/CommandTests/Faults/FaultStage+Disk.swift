import Foundation
import TestSupport

/// A file system of its own in a file: what the system has not written to the blocks of that file is lost in a power cut.
struct LoopDisk {
  /// The file of an empty file system, which is copied for each use.
  let empty: URL
  private let own: TemporaryFolder

  /// Whether this user may mount one.
  static let canMount: Bool = {
    guard getuid() == 0, let disk = try? LoopDisk(), let folder = try? TemporaryFolder() else { return false }
    let script = "mount -o loop '\(disk.empty.path)' '\(folder.url.path)'"
    return (try? Programs.run("/usr/bin/env", ["unshare", "-m", "/bin/bash", "-c", script]).status) == 0
  }()

  /// - Parameter blockBytes: The size of its blocks, usually that of a page of memory.
  init(blockBytes: Int = 4096) throws {
    own = try TemporaryFolder()
    empty = own.file("empty.img")
    let script = """
      truncate -s 32M "$0" && PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F -m 0 -b \(blockBytes) "$0"
      """
    try Programs.output(of: ["bash", "-c", script, empty.path])
  }
}

extension FaultStage {
  /// Runs the command on a file system of its own, and cuts the power at a call: replaces the folder by what the blocks
  /// hold at that moment, as the system finds them when it starts again.
  ///
  /// - Parameters:
  ///   - fault: What happens to the calls. If it does not stop the process, the power fails right after its end.
  ///   - options: How the file system is mounted.
  /// - Returns: Whether the power failed before the end.
  func cutPower(on disk: LoopDisk, _ fault: Fault, options: String) throws -> Bool {
    let own = try TemporaryFolder()
    try own.makeFolder("after")
    try clear()
    // The namespace of the mounts ends with the script.
    let script = """
      set -e
      cp "$EMPTY" "$OWN/disk.img"
      mount -o "loop,$OPTIONS" "$OWN/disk.img" "$WORK"
      rmdir "$WORK/lost+found"
      cp -a "$BASE/." "$WORK/"
      sync -f "$WORK"
      cd "$WORK"
      env $SHIMMED "$@" >/dev/null 2>"$OWN/messages" &
      process=$!
      state=R
      while [ "$state" != T ] && [ "$state" != Z ]; do
        sleep 0.005
        state=$(sed 's/.*) \\(.\\).*/\\1/' "/proc/$process/stat" 2>/dev/null || echo Z)
      done
      cp "$OWN/disk.img" "$OWN/cut.img"
      kill -9 "$process" 2>/dev/null || true
      wait "$process" 2>/dev/null || true
      cd /
      umount "$WORK"
      mount -o loop "$OWN/cut.img" "$WORK"
      cp -a "$WORK/." "$OWN/after/"
      rm -rf "$OWN/after/lost+found"
      umount "$WORK"
      echo "$state"
      """
    let shimmed = try command.environment(fault).map { "\($0.key)=\($0.value)" }
    let environment = [
      "EMPTY": disk.empty.path, "OWN": own.url.path, "OPTIONS": options, "WORK": work.url.path, "BASE": base.url.path,
      "SHIMMED": shimmed.joined(separator: " "),
    ]
    let output = try Programs.run(
      "/usr/bin/env", ["unshare", "-m", "/bin/bash", "-c", script, "bash", Tool.url.path] + command.arguments,
      environment: environment)
    guard output.status == 0 else { throw ProgramFailure(description: "\(kind.name): \(output.messages)") }
    for name in try FileManager.default.contentsOfDirectory(atPath: own.path("after")) {
      try FileManager.default.copyItem(at: own.file("after/\(name)"), to: work.file(name))
    }
    return output.text == "T\n"
  }
}
