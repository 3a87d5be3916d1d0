#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Sleeps until a non-blocking descriptor can be read or written. A signal may end the sleep early; callers retry.
func waitUntilReady(_ descriptor: Int32, for events: Int16) {
  _ = isReady(descriptor, for: events, milliseconds: -1)
}

/// Waits until the descriptor is ready, as long as the time allows; for any time if it is negative.
func isReady(_ descriptor: Int32, for events: Int16, milliseconds: Int32) -> Bool {
  var request = pollfd(fd: descriptor, events: events, revents: 0)
  return poll(&request, 1, milliseconds) != 0
}
