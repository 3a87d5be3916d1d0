import Foundation
import SystemSupport
import PipelineEngine
import SurfJournal
import TableGuessing

struct GuessCommand: Command {
  static let name = "guess"
  static let usage = """
    Usage: surfjournal guess FILE... [options]

    Looks at the beginning, the end and samples of CSV files, says what form they
    have and what each column is, how sure each point is and why, and writes a
    pipeline that 'surfjournal run' takes as it is. Several files must have one
    form. A FILE may be compressed (gzip, zstd, xz, bzip2, or a zip archive of one
    file); - is standard input.

    Options:
      -o, --output FILE          write the pipeline to FILE, and the report to
                                 standard output; by default the pipeline goes to
                                 standard output, the report to standard error
          --store PATH           store that the pipeline imports into
          --entity ENTITY        fill the objects of this entity, from columns with
                                 the labels of its attributes; by default journal
                                 entries
          --model MODEL          model of the entity, as for import; by default that
                                 of the store
          --date-format FORMAT   format of the dates, such as d/M/yy, instead of
                                 guessing it; may be repeated
          --min-confidence P     refuse if a point is less sure than P, 0 to 1; by
                                 default 0.75
          --force                replace FILE if it exists
      -q, --quiet                print no report
      \(SharedOptions.help)

    Examples:
      surfjournal guess surftagebuch.csv -o surftagebuch.json
      surfjournal run surftagebuch.json --store journal.sqlite
      surfjournal guess SampleData/google-sheets.csv -o google-sheets.json
      surfjournal guess SampleData/numbers.csv -o numbers.json
      surfjournal guess cars.csv --entity Car --model Garage.mom -o cars.json
      surfjournal guess sessions.csv --date-format d/M/yyyy > sessions.json

    Exit status 65 says that a point is not sure enough; nothing is written then,
    and the message names the point and the choices. With --min-confidence 0 a
    pipeline is written from any table, to be corrected by hand.

    """

  static let confidenceMin = 0.75

  private let files: [String]
  private let output: String?
  private let store: String?
  private let entity: String?
  private let model: String?
  private let dateFormats: [String]
  private let confidenceMin: Double
  private let replaces: Bool
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard !arguments.operands.isEmpty else {
      throw arguments.mistake("no file is given; name one, or - for standard input")
    }
    files = arguments.operands
    if files.count > 1, files.contains("-") {
      throw arguments.mistake("standard input has no name for a pipeline; guess it separately, or write it to a file")
    }
    let output = arguments.string("output")
    self.output = output == "-" ? nil : output
    store = arguments.string("store")
    entity = arguments.string("entity")
    model = arguments.string("model")
    if model != nil, entity == nil {
      throw arguments.mistake("--model needs the entity that the file is for; add --entity ENTITY")
    }
    dateFormats = arguments.strings("date-format")
    replaces = arguments.has("force")
    isQuiet = arguments.has("quiet")
    let text = arguments.string("min-confidence")
    guard let number = text.map(Double.init) ?? Self.confidenceMin, (0...1).contains(number) else {
      throw arguments.mistake("--min-confidence is '\(text ?? "")'; expected a number from 0 to 1")
    }
    confidenceMin = number
    for format in dateFormats {
      do {
        _ = try DateFormat(format, named: DefinitionVocabulary.journal.dateFormats)
      } catch {
        throw arguments.mistake("--date-format: \(error.message)")
      }
    }
    if let output = self.output, !output.hasSuffix(".json") {
      throw arguments.mistake("--output is '\(output)'; a pipeline's file ends in .json")
    }
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      try checkStore()
      let guess = try look()
      let report = GuessReport(guess)
      guard guess.confidence >= confidenceMin else {
        let isTable = guess.otherFormat == nil
        if !isQuiet, isTable { Console.show(report.text + "\n") }
        let advice = isTable ? advice : ["Nothing was written."]
        throw CommandFailure(lines: report.refusal(below: confidenceMin) + advice, .dataError)
      }
      let pipeline = pipeline(guess)
      if let output {
        try write(pipeline.text, to: output)
        if !isQuiet { try Console.print(report.text + "\n" + next(output)) }
      } else {
        if !isQuiet { Console.show(report.text + "\n") }
        try Console.print(pipeline.text, as: .json)
      }
    } catch {
      return error.report()
    }
    return .ok
  }

  /// The pipeline would be refused with a store that is not a file.
  private func checkStore() throws(CommandFailure) {
    guard let store else { return }
    do {
      try RunFailure.checkKind(ofStore: store)
    } catch {
      throw CommandFailure(error.message, error.exitCode)
    }
  }

  private func look() throws(CommandFailure) -> TableGuess {
    var samples: [FileSample] = []
    for file in files {
      do {
        samples.append(try FileSample(path: file))
      } catch {
        let failure = RunFailure(error)
        throw CommandFailure(failure.message, failure.exitCode)
      }
    }
    let guesser = TableGuesser(vocabulary: try vocabulary(), dateFormats: dateFormats)
    guard let guess = guesser.guess(samples) else {
      throw CommandFailure("no file was read. This is a fault of the program", .software)
    }
    return guess
  }

  private func vocabulary() throws(CommandFailure) -> AttributeVocabulary {
    guard let entity else { return .journal }
    do {
      return try AttributeVocabulary(entity: entity, model: model, store: store)
    } catch let error as PipelineError {
      throw CommandFailure(lines: error.mistakes.map(\.message), error.exitCode)
    } catch {
      let failure = RunFailure(store: error as NSError, path: store)
      throw CommandFailure(failure.message, failure.exitCode)
    }
  }

  // MARK: The pipeline

  private func pipeline(_ guess: TableGuess) -> PipelineText {
    let stem = output ?? files[0]
    let name = URL(fileURLWithPath: stem).deletingPathExtension().lastPathComponent
    let inputs = files.filter { $0 != "-" }
    var text = PipelineText(
      guess, name: name.isEmpty || stem == "-" ? "guessed" : name, sources: inputs.map(relative),
      store: store.map(relative), program: "surfjournal")
    text.entity = entity
    text.model = model.map { PipelineDefinition.isModelPath($0) ? relative($0) : $0 }
    return text
  }

  /// A path as the pipeline's file names it: from the folder of that file.
  private func relative(_ path: String) -> String {
    guard let output, !path.hasPrefix("/") else { return path }
    let folder = URL(fileURLWithPath: output).deletingLastPathComponent().standardizedFileURL
    let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath).standardizedFileURL
    return folder.path == here.path ? path : URL(fileURLWithPath: path).standardizedFileURL.path
  }

  private func write(_ text: String, to path: String) throws(CommandFailure) {
    if !replaces, mayExist(path) {
      throw CommandFailure("\(path) exists; name another file, or replace it with --force", .cannotCreate)
    }
    do throws(RunFailure) {
      try WholeFile.write(Array(text.utf8), to: path)
    } catch {
      let advice = error.exitCode == .ioError ? "check the disk" : "check the folder and its permissions"
      throw CommandFailure("\(error.message); \(advice)", error.exitCode)
    }
  }

  // MARK: What to do next

  private func next(_ output: String) -> String {
    let option = store == nil ? " --store journal.sqlite" : ""
    let run = "surfjournal run \(ShellWord.quoted(output))\(option)"
    return RawText.oneLine("Written to \(output). Correct there what is wrong, then: \(run)") + "\n"
  }

  private var advice: [String] {
    [
      "Nothing was written. Correct the file, declare the dates with --date-format, or write a pipeline with",
      "--min-confidence 0 and correct it there.",
    ]
  }
}
