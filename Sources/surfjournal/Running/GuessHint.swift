import Foundation
import PipelineEngine

/// The line to type after a file was refused that does not have the form the default pipeline reads.
struct GuessHint {
  private static let codes: Set<IssueCode> = [.missingLabel, .blankHeader, .encodingError, .duplicateLabel]

  private let file: String
  private let store: String?

  /// Nil where a guess would not help: another failure, a pipeline that was asked for, several inputs, or a pipe.
  init?(after failure: RunSummary.Failure, of options: RunOptions, arguments: Arguments) {
    guard let code = failure.code, Self.codes.contains(code), !arguments.isGiven("pipeline"),
      !arguments.isGiven("entity"), options.inputs?.count == 1, let file = options.inputs?.first, file != "-",
      !(arguments.isDeclared("format") && arguments.isGiven("format"))
    else { return nil }
    self.file = file
    store = options.store.map { StoreLocation($0).shown }
  }

  var text: String {
    let stem = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
    let pipeline = ShellWord.quoted((stem.isEmpty ? "guessed" : stem) + ".json")
    let target = store.map { " --store \(ShellWord.quoted($0))" } ?? ""
    let check = store == nil ? "check" : "run"
    return "to guess the form of the file, run: surfjournal guess \(ShellWord.quoted(file))\(target) -o \(pipeline) "
      + "&& surfjournal \(check) \(pipeline)"
  }
}
