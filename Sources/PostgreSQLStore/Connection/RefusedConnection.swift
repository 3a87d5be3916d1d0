/// What the message of libpq says of a connection that was not made: it reports no code. In another language than English
/// that is not known, so that the connection is tried again for some time.
enum RefusedConnection {
  /// The code of a server's refusal.
  static func state(of message: String) -> String? {
    let texts = [
      (nil, ["refused", "timeout", "starting up", "shutting down", "No such file", "could not translate"]),
      (
        "28000",
        [
          "authentication failed", "no password supplied", "no pg_hba.conf entry", "not permitted to log in",
          "no such user",
        ]
      ),
      ("3D000", ["no such database"]),
    ]
    if let found = texts.first(where: { $0.1.contains(where: message.contains) }) { return found.0 }
    guard message.contains("does not exist") else { return nil }
    return message.contains("role \"") ? "28000" : message.contains("database \"") ? "3D000" : nil
  }

  /// Whether libpq or the server refuses a setting of the address, of its service or of a variable: the same fails at any
  /// time.
  static func isOfSettings(_ message: String) -> Bool {
    // Such as: invalid sslmode value: "bogus"
    if message.contains("invalid "), message.contains(" value: \"") { return true }
    return texts.contains(where: message.contains)
  }

  private static let texts = [
    "invalid integer value", "invalid port number", "could not match", "definition of service", "service file \"",
    "invalid connection option", "SSL protocol version", "unrecognized configuration parameter",
    "invalid value for parameter", "invalid command-line argument", "requires a value",
  ]
}
