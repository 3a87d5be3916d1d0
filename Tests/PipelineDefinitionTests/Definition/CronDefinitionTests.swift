import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition

/// The keys that concern a pipeline run by a clock: `inbox`, `log` and `timeoutSeconds`.
@Suite struct CronDefinitionTests {
  private func read(_ member: String) throws -> PipelineDefinition {
    try PipelineDefinition(data: Data(#"{"name": "n", "columns": ["date"], \#(member)}"#.utf8), environment: .journal)
  }

  @Test func `An inbox is an object, or just its folder`() throws {
    #expect(try read(#""inbox": "in/""#).inbox == InboxDefinition(folder: "in/"))
    #expect(try read(#""inbox": { "folder": "in" }"#).inbox == InboxDefinition(folder: "in"))
    let definition = try read(
      #""inbox": { "folder": "in", "pattern": "*.txt", "processed": "a", "failed": "b", "settleSeconds": 0.5 }"#)
    let inbox = InboxDefinition(
      folder: "in", pattern: ["*.txt"], processed: "a", failed: "b", settleSeconds: 0.5)
    #expect(definition.inbox == inbox)
    #expect(try PipelineDefinition(data: JSONEncoder().encode(definition), environment: .journal) == definition)
  }

  @Test func `What is left out of an inbox is as documented`() {
    let inbox = InboxDefinition(folder: "in")
    #expect(inbox.pattern == ["*.csv", "*.csv.gz"])
    #expect((inbox.processed, inbox.failed, inbox.settleSeconds) == ("processed", "failed", 10))
  }

  @Test func `A log is an object, or just its file`() throws {
    #expect(try read(#""log": "run.log""#).log == LogDefinition(file: "run.log", level: .info, format: .text))
    #expect(try read(#""log": {}"#).log == LogDefinition())
    #expect(try read(#""log": { "level": "warning", "format": "json" }"#).log?.level == .warning)
  }

  static let mistakes: [(member: String, path: String, words: String)] = [
    (#""inbox": {}"#, "inbox", "'folder' is missing"),
    (#""inbox": 7"#, "inbox", "expected an object"),
    (#""inbox": { "folder": "in", "patern": "*" }"#, "inbox.patern", "did you mean 'pattern'?"),
    (#""inbox": { "folder": "in", "pattern": [] }"#, "inbox.pattern", "no file could match"),
    (#""inbox": { "folder": "in", "pattern": ["*", "a/*"] }"#, "inbox.pattern[1]", "contains a slash"),
    (#""inbox": { "folder": "in", "pattern": "a/*" }"#, "inbox.pattern", "contains a slash"),
    (#""inbox": { "folder": "in", "settleSeconds": -1 }"#, "inbox.settleSeconds", "expected 0 to 86,400, found -1"),
    (#""inbox": "in", "source": "a.csv""#, "inbox", "remove one of the two"),
    (#""log": { "level": "infos" }"#, "log.level", "did you mean 'info'?"),
    (#""log": { "format": "xml" }"#, "log.format", "'text', 'json'"),
    (#""timeoutSeconds": 90000"#, "timeoutSeconds", "expected 0 to 86,400, found 90,000"),
    (#""timeoutSeconds": "1h""#, "timeoutSeconds", "expected a number"),
  ]

  @Test(arguments: mistakes)
  func `Mistakes are named with their place`(member: String, path: String, words: String) throws {
    do {
      _ = try read(member)
      Issue.record("nothing was found wrong")
    } catch let error as PipelineError {
      #expect(error.mistakes.count == 1)
      #expect(error.path == path)
      #expect(error.message.contains(words), "\(error.message)")
    }
  }
}
