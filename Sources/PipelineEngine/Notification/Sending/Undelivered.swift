/// Why something could not be notified, in words that have no secret in them.
struct Undelivered: Error, Sendable {
  let message: String

  init(_ message: String) { self.message = message }
}
