/// What a run asks and tells while it goes on.
struct RunMonitor: Sendable {
  let isCancelled: @Sendable () -> Bool
  let report: @Sendable (RunProgress) -> Void
  let log: EventLog
}
