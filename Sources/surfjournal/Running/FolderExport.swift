import Foundation
import SystemSupport
import PipelineEngine
import SurfJournal

/// Exports all entities of a store into a folder, with the pipeline that imports them again.
struct FolderExport: Sendable {
  private let store: String
  private let model: String?
  private let folder: String
  private let isQuiet: Bool
  private let replaces: Bool

  /// The options that are about one entity or one run.
  private static let others = [
    "entity", "pipeline", "guess-model", "without-metadata", "where", "sort", "columns", "date-format", "limit",
    "readers", "format", "gzip", "dialect", "null", "split-rows", "split-month", "incremental", "hash",
    "guard-formulas", "report", "json",
    "damaged-log", "missing-external", "timeout", "lock-timeout", "log", "log-level", "log-format",
  ]

  init(_ arguments: Arguments) throws(CommandFailure) {
    if let option = Self.others.first(where: arguments.isGiven) {
      throw arguments.mistake("--\(option) has no meaning with --all-entities; leave one of the two out")
    }
    guard let store = arguments.string("store") else {
      throw arguments.mistake("no store is given; name one with --store PATH")
    }
    guard let output = arguments.string("output"), output != "-", !output.isEmpty else {
      throw arguments.mistake("--all-entities writes several files; name a folder with --output FOLDER")
    }
    (self.store, folder) = (store, output)
    model = arguments.string("model").map { URL(fileURLWithPath: $0).path }
    (isQuiet, replaces) = (arguments.has("quiet"), arguments.has("force"))
  }

  func run() async -> ExitCode {
    do {
      let tables = try StoreTables(store: store, model: model, vocabulary: .journal)
      let names = tables.exports.map { "\($0.entity).csv" } + ["pipeline.json"]
      if !replaces, let known = names.first(where: { mayExist(path($0)) }) {
        throw CommandFailure(
          "\(path(known)) exists; name another folder, or add --force to replace the files of these entities",
          .cannotCreate)
      }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      var (lines, code) = ([String](), ExitCode.ok)
      for definition in tables.exports {
        var options = RunOptions()
        (options.store, options.originalStore) = (tables.store, store)
        options.output = path("\(definition.entity).csv")
        options.warn = { Console.report($0) }
        let summary = try await PipelineRunner(definition, .export, options: options).run()
        if let failure = summary.failure { throw CommandFailure(failure.message, failure.exitCode) }
        for issue in summary.issues.listed { Console.report("\(definition.entity): \(issue)") }
        if summary.exitCode != .ok { code = summary.exitCode }
        lines.append("\(definition.entity)  \(summary.exported)")
      }
      try tables.writePipeline(to: path("pipeline.json"))
      if code != .ok {
        Console.report("entries were left out, so that an import of \(folder) does not bring back all of the store")
      }
      if !isQuiet { try Console.print(lines.map { $0 + "\n" }.joined()) }
      return code
    } catch {
      return Self.failure(error, folder).report()
    }
  }

  private func path(_ name: String) -> String { folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)" }

  private static func failure(_ error: any Error, _ folder: String) -> CommandFailure {
    switch error {
    case let failure as CommandFailure: failure
    case let failure as StoreTables.Failure: CommandFailure(failure.message, failure.exitCode)
    case let mistake as PipelineError: CommandFailure(mistake.description, mistake.exitCode)
    default: CommandFailure("\(folder) can't be made: \((error as NSError).reason)", .cannotCreate)
    }
  }
}
