import TestSupport
import Testing

/// Names the suites over PostgreSQL where they are left out.
@Suite("Suites that run on all kinds of stores")
struct ServerSuitesTests {
  @Test(
    "They run on a PostgreSQL server",
    .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
  func server() { #expect(StoreKind.available.contains(.server)) }
}
