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
    store = options.store
  }

  var text: String {
    let stem = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
    let pipeline = Self.shellWord((stem.isEmpty ? "guessed" : stem) + ".json")
    let target = store.map { " --store \(Self.shellWord($0))" } ?? ""
    let check = store == nil ? "check" : "run"
    return "to guess the form of the file, run: surfjournal guess \(Self.shellWord(file))\(target) -o \(pipeline) "
      + "&& surfjournal \(check) \(pipeline)"
  }

  /// A word as a POSIX shell reads it.
  private static func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "._/-+,:@%".utf8.contains(byte)
      }
    }
    let word = text.hasPrefix("-") ? "./" + text : text
    return isPlain && !word.isEmpty ? word : "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }
}
