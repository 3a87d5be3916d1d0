import Foundation
import TestSupport
import Testing

/// Which store the stacks of a test are built on.
enum StoreKind: String, CaseIterable, Sendable {
  case sqlite = "SQLiteStore"
  case bruteForce = "BruteForceStore"
  case server = "PostgreSQLStore"

  /// Those that can be opened here: where no server can be started, the others.
  static let available = allCases.filter { $0 != .server || PostgreSQLServer.isThere }

  /// Those of them that can track a history.
  static let tracking = available.filter { $0 != .bruteForce }

  @TaskLocal static var current = StoreKind.sqlite
}

/// Runs each test of a suite on all kinds of stores that can be opened, except those that are marked `sqliteOnly`.
struct OverBothStores: SuiteTrait, TestTrait, TestScoping {
  var kinds = StoreKind.available
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard !test.traits.contains(where: { $0 is SQLiteOnly }) else { return try await function() }
    var failure: (any Error)?
    for kind in kinds {
      let naming = IssueHandlingTrait.compactMapIssues { issue in
        var issue = issue
        issue.comments.append("On the \(kind.rawValue)")
        return issue
      }
      do {
        try await StoreKind.$current.withValue(kind) {
          try await naming.provideScope(for: test, testCase: testCase, performing: function)
        }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

extension Trait where Self == OverBothStores {
  static var overBothStores: Self { OverBothStores() }
  static var overTrackingStores: Self { OverBothStores(kinds: StoreKind.tracking) }
}

/// Marks a test that says something about SQLite, its files or its program.
struct SQLiteOnly: TestTrait, SuiteTrait {
  let comments: [Comment]
  var isRecursive: Bool { true }
}

extension Trait where Self == SQLiteOnly {
  static func sqliteOnly(_ reason: Comment) -> Self { SQLiteOnly(comments: [reason]) }
}

/// Marks a suite that uses no store, or only in tests that are marked `overBothStores` themselves.
struct WithoutStore: SuiteTrait {
  let comments: [Comment]
}

extension Trait where Self == WithoutStore {
  static func withoutStore(_ reason: Comment) -> Self { WithoutStore(comments: [reason]) }
}
