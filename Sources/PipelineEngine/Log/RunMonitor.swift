/// Callbacks of a run in progress, and its event log.
struct RunMonitor: Sendable {
  let isCancelled: @Sendable () -> Bool
  let report: @Sendable (RunProgress) -> Void
  let log: EventLog
}
