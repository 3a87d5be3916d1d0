import Foundation

/// Calls the system again where a signal has interrupted it. (POSIX: EINTR.)
///
/// - Returns: What the call returns; -1 with `errno` where it fails for another reason.
package func uninterrupted(_ call: () -> Int32) -> Int32 {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}
