import Foundation

/// The memory of this process.
package enum ProcessMemory {
  /// The peak resident memory in bytes; 0 where the system does not report it.
  ///
  /// Read from /proc, because the declaration of Glibc's `getrusage` in Swift depends on which C headers a program also
  /// imports.
  package static var peakBytes: Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kibibytes * 1024
  }
}
