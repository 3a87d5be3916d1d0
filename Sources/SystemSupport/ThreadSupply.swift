import Foundation

/// How many threads the system lets the process have: a user, a service or a container may have a limit.
package enum ThreadSupply {
  private static let end = DispatchSemaphore(value: 0)

  /// Starts threads and ends them. Foundation and Dispatch do not report a thread that can't be started; what waits for
  /// it waits for ever.
  ///
  /// - Parameter count: How many further threads have to run at the same time.
  /// - Returns: The system's error number where it does not let them; otherwise nil.
  package static func shortage(of count: Int) -> Int32? {
    var threads: [pthread_t] = []
    var code: Int32 = 0
    while code == 0, threads.count < count {
      var thread = pthread_t()
      code = pthread_create(
        &thread, nil,
        { _ in
          ThreadSupply.end.wait()
          return nil
        }, nil)
      if code == 0 { threads.append(thread) }
    }
    for _ in threads { end.signal() }
    for thread in threads { pthread_join(thread, nil) }
    return code == 0 ? nil : code
  }
}
