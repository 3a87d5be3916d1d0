import Foundation

/// The inputs of a pipeline with rejects that wait for a correction.
///
/// The ledger knows of them. Files of rejects that it does not list wait, too: it was removed since.
struct WaitingInputs {
  /// The names of their files.
  private(set) var names: Set<String>

  /// - Throws: A failure if the folder of rejects can't be listed: what waits is unknown then.
  init(
    _ history: LedgerHistory, store: StoreLocation, of definition: PipelineDefinition, _ options: RunOptions
  ) throws(RunFailure) {
    let inputs = history.runs.flatMap(\.inputs)
    let waiting = Self.paths(history.waitingRejects)
    let listed = inputs.filter { $0.rejects.map { waiting.contains(Self.path($0)) } ?? false }
    names = Set(listed.map { Self.name($0.path) } + waiting.flatMap(Self.names(ofRejects:)))
    let known = Self.paths(inputs.compactMap(\.rejects))
    for part in definition.imports {
      for path in try Self.rejects(of: part, options) where !known.contains(Self.path(path)) {
        add(path, of: store)
      }
    }
  }

  /// Adds the input of rejects that the ledger does not list.
  private mutating func add(_ path: String, of store: StoreLocation) {
    let origin = Replay.origin(of: path)
    if let origin, origin.store.map({ StoreLocation($0).recorded }) != store.recorded { return }
    // The rest of a replay names the file of rejects that was replayed.
    names.formUnion(Self.names(ofRejects: path) + (origin.map { [Self.name($0.input)] } ?? []))
  }

  /// The files of rejects in the folder where the pipeline writes them. An inbox has a folder for them.
  private static func rejects(
    of definition: PipelineDefinition, _ options: RunOptions
  ) throws(RunFailure) -> [String] {
    let store = definition.storeLocation(options)
    let paths = RejectsDestination.paths(for: ["-"], definition, options, store: store)
    guard let example = paths.first ?? nil else { return [] }
    let folder = OutputPath.folder(of: example)
    return try RunFailure.names(in: folder).filter { !names(ofRejects: $0).isEmpty }.map { "\(folder)/\($0)" }
  }

  /// The names of the inputs that rejects may come from by their own name; none for another file.
  private static func names(ofRejects path: String) -> [String] {
    let numbered = name(path)
    // Rejects of inputs with the same name have a number in front.
    let parts = numbered.split(separator: ".", maxSplits: 1)
    let plain = parts.count == 2 && Int(parts[0]) != nil ? [numbered, String(parts[1])] : [numbered]
    return plain.flatMap(Inbox.originals).compactMap { name in
      let ending = [RunSummary.rejectsEnding, RunSummary.rejectsEndingOfJSONLines].first(where: name.hasSuffix)
      return ending.map { String(name.dropLast($0.count)) }
    }
  }

  private static func name(_ path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }
  private static func path(_ path: String) -> String { URL(fileURLWithPath: path).path }

  /// Absolute paths.
  static func paths(_ paths: [String]) -> Set<String> { Set(paths.map(path)) }
}
