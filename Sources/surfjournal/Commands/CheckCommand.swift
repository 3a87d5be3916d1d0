import Foundation
import PipelineEngine

struct CheckCommand: Command {
  static let name = "check"
  static let usage = """
    Usage: surfjournal check PIPELINE... [options]

    Checks pipeline definitions as a run would, also against the data model, and
    runs none. PIPELINE is a name that 'surfjournal pipelines' lists, or the path
    of a definition. All mistakes are printed at once, as file:line:column: key
    path: what is wrong; probable mistakes are printed as warnings. For a usable
    definition, the program then explains what the pipeline does.

    Options:
          --model MODEL          check against this model instead of the
                                 pipeline's: a model file, or one that is part
                                 of the program
          --json                 print mistakes, warnings and explanation as JSON
      -q, --quiet                print mistakes and warnings only
      \(SharedOptions.help)

    Examples:
      surfjournal check nightly.json
      surfjournal check surf-log surf-log-strict

    Exit status 78 says that a definition can't be used, 66 that a pipeline
    was not found. Warnings do not count.

    """

  private let requested: [String]
  private let model: String?
  private let isJSON: Bool
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard !arguments.operands.isEmpty else {
      throw arguments.mistake("no pipeline is given; 'surfjournal pipelines' lists those that have a name")
    }
    requested = arguments.operands
    model = arguments.string("model")
    isJSON = arguments.has("json")
    isQuiet = arguments.has("quiet")
  }

  func run() async -> ExitCode {
    let reviews = requested.map { PipelineCatalog.review($0, model: model) }
    do throws(CommandFailure) {
      let text = isJSON ? try Self.json(zip(requested, reviews).map(Row.init)) : Self.text(reviews, isQuiet: isQuiet)
      if !text.isEmpty { try Console.print(text, as: isJSON ? .json : .text) }
    } catch {
      return error.report()
    }
    // A wrong definition takes precedence over a missing one.
    let codes = reviews.map(\.exitCode)
    return codes.contains(.configuration) ? .configuration : codes.first { $0 != .ok } ?? .ok
  }

  // MARK: Text

  private static func text(_ reviews: [PipelineReview], isQuiet: Bool) -> String {
    reviews.map { review in
      let remarks = review.remarks.map { RawText.oneLine($0) + "\n" }.joined()
      return isQuiet ? remarks : remarks + explanation(review)
    }
    .filter { !$0.isEmpty }
    .joined(separator: isQuiet ? "" : "\n")
  }

  private static func explanation(_ review: PipelineReview) -> String {
    guard let definition = review.definition else { return "" }
    let origin = ([review.file ?? "built in"] + review.bases).joined(separator: ", extends ")
    let width = (review.explanation.map(\.name.count).max() ?? 0) + 2
    var text = RawText.oneLine("\(definition.name)  (\(origin))") + "\n"
    for topic in review.explanation {
      for (index, line) in topic.lines.enumerated() {
        let name = index == 0 ? topic.name : ""
        text += "  " + name.padding(toLength: width, withPad: " ", startingAt: 0) + RawText.oneLine(line) + "\n"
      }
    }
    return text
  }

  // MARK: JSON

  private struct Row: Encodable {
    let pipeline: String
    /// Omitted for a built-in pipeline.
    let file: String?
    let extends: [String]
    let usable: Bool
    let mistakes: [PipelineError.Mistake]
    let warnings: [PipelineError.Mistake]
    let explanation: [PipelineExplanation.Topic]

    init(_ requested: String, _ review: PipelineReview) {
      /// The mistakes, each with its file.
      func withFile(_ mistakes: [PipelineError.Mistake]) -> [PipelineError.Mistake] {
        mistakes.map { mistake in
          var mistake = mistake
          mistake.file = mistake.file ?? review.file
          return mistake
        }
      }
      pipeline = review.definition?.name ?? requested
      file = review.file
      extends = review.bases
      usable = review.definition != nil
      mistakes = withFile(review.error?.mistakes ?? [])
      warnings = withFile(review.warnings)
      explanation = review.explanation
    }
  }

  private static func json(_ rows: [Row]) throws(CommandFailure) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(rows), as: UTF8.self) + "\n"
    } catch {
      throw CommandFailure("the result can't be written as JSON: \(error). This is a fault of the program", .software)
    }
  }
}
