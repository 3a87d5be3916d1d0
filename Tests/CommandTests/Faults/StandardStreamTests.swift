import TestSupport
import Testing

/// Standard streams that are closed, full or closed by their reader: the run does its work, and nothing that was meant
/// for a stream gets into a file.
@Suite struct StandardStreamTests {
  struct Streams: Sendable {
    let name: String
    let redirection: String
    /// Whether the report reaches its reader.
    var isReported = false
  }

  static let streams = [
    Streams(name: "standard input is closed", redirection: "<&-", isReported: true),
    Streams(name: "standard output is closed", redirection: ">&-"),
    Streams(name: "standard error is closed", redirection: "2>&-", isReported: true),
    Streams(name: "all three are closed", redirection: "<&- >&- 2>&-"),
    Streams(name: "standard output is full", redirection: ">/dev/full"),
    Streams(name: "standard error is full", redirection: "2>/dev/full", isReported: true),
    Streams(name: "both are full", redirection: ">/dev/full 2>&1"),
    Streams(name: "the reader of standard output is gone", redirection: "> >(exec <&-; sleep 0.2)"),
    Streams(name: "the reader of standard error is gone", redirection: "2> >(exec <&-; sleep 0.2)"),
  ]

  static let kinds: [RunKind] = [.plain, .inbox, .export, .undo, .edit]

  @Test(arguments: kinds)
  func `The work is done, and no text for a stream gets into a file`(_ kind: RunKind) throws {
    let stage = try FaultStage(kind)
    let words = kind.arguments.filter { $0 != "-q" }.map { "'\($0)'" }.joined(separator: " ")
    for streams in Self.streams {
      try stage.reset()
      let output = try Tool.shell("\"$surfjournal\" \(words) \(streams.redirection)", in: stage.work)
      let place: Comment = "\(streams.name): \(output.status) \(output.messages)"
      // What can't be reported is an error of output, after the work.
      #expect([stage.status, 0, 74].contains(output.status), place)
      if streams.isReported { #expect(output.status == stage.status, place) }
      #expect(try LeftFiles(stage.work).differences(from: stage.once).isEmpty, place)
    }
  }

  @Test func `An export to a reader that is gone ends with an error of output, and to a full device too`() throws {
    let stage = try FaultStage(.export)
    try stage.reset()
    let export = "\"$surfjournal\" export --store s -o - --limit 50"
    let gone = try Tool.shell("\(export) > >(exec <&-; sleep 0.2)", in: stage.work)
    #expect([74, 0, 128 + 13].contains(gone.status), "\(gone.status) \(gone.messages)")
    let full = try Tool.shell("\(export) > /dev/full", in: stage.work)
    #expect(full.status == 74)
    #expect(full.messages.contains("No space left on device"), "\(full.messages)")
  }
}
