import Foundation

/// The memory of this process.
public enum ProcessMemory {
  /// The most that was resident at any time so far, in bytes; 0 where the system does not tell.
  ///
  /// Read from /proc: how Glibc declares `getrusage` to Swift depends on which C headers a program also imports.
  public static var peakBytes: Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kibibytes * 1024
  }
}
