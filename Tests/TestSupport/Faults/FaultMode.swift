import Glibc

/// Ways in which a call can go wrong, and the calls that it concerns.
package enum FaultMode: CaseIterable {
  case killed, terminated, ioError, lastingIOError, diskFull, lastingDiskFull, interrupted, interruptedSync, short

  /// The fault, at the call with a number.
  package func fault(at number: Int) -> Fault {
    switch self {
    case .killed: Fault(.kill, at: number)
    case .terminated: Fault(.terminate, at: number)
    case .ioError: Fault(.fail(EIO), calls: Self.all, at: number)
    case .lastingIOError: lasting(Fault(.fail(EIO), calls: Self.all, at: number))
    case .diskFull: Fault(.fail(ENOSPC), calls: Self.growing, at: number)
    case .lastingDiskFull: lasting(Fault(.fail(ENOSPC), calls: Self.growing, at: number))
    case .interrupted: Fault(.fail(EINTR), calls: [.open, .read, .write, .resize], at: number)
    case .interruptedSync: Fault(.fail(EINTR), calls: [.sync], at: number)
    case .short: Fault(.short, calls: [.read, .write], at: number)
    }
  }

  private func lasting(_ fault: Fault) -> Fault {
    var fault = fault
    fault.isLasting = true
    return fault
  }

  /// A failing change of modes is passed over on purpose, and close only says what a sync has said before.
  private static let all: [Fault.Call] = [
    .open, .read, .write, .sync, .resize, .rename, .unlink, .folders, .lock, .map, .list, .look,
  ]
  private static let growing: [Fault.Call] = [.open, .write, .resize, .rename, .folders]

  /// How many calls of an undisturbed run it concerns.
  package func callsCount(in undisturbed: ShimReport) -> Int {
    fault(at: 1).calls.reduce(0) { $0 + undisturbed.counts[$1, default: 0] }
  }
}
