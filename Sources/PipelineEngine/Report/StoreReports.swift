import Foundation
import SystemSupport
import OpenCoreData
import StoreInspection

/// Inspects and verifies stores for the command. Takes paths; errors have the exit status.
public enum StoreReports {
  /// Why a store can't be inspected.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What is wrong, and a remedy.
    public let description: String
    /// The exit status for it.
    public let exitCode: ExitCode
  }

  /// The result of an inspection or verification, in displayable form.
  public struct Report: Sendable {
    /// For users.
    public let text: String
    /// As the schema in `Pipelines` specifies, ending with a line break.
    public let json: String
    /// 65 where something is wrong with the store.
    public let exitCode: ExitCode
    /// Whether there is something to report in quiet mode.
    public let hasFindings: Bool
  }

  /// The content of a store; see `StoreInspection`.
  ///
  /// - Parameters:
  ///   - store: The path of the store.
  ///   - model: The path of a model; without one, the model that is found.
  ///   - embeddedModels: The names of embedded models that may be the store's.
  ///   - vocabulary: The program's, whose ledger is named in the report.
  ///   - readsDamagedWAL: Whether a damaged write-ahead log is read up to its first wrong page instead of being refused.
  ///   - showsSecrets: Whether the values of the store's own metadata keys are shown whose names look like secrets.
  /// - Throws: ``Failure`` for a store or a model that can't be read, with what to do.
  public static func inspection(
    of store: String, model: String? = nil, embeddedModels: [String], vocabulary: DefinitionVocabulary,
    readsDamagedWAL: Bool = false, showsSecrets: Bool = false
  ) throws(Failure) -> Report {
    try explained(store, model: model) { store, model in
      var inspection = try StoreInspection(
        storeAt: store, modelFile: model, embeddedModels: embeddedModels,
        tablePurposes: [vocabulary.ledgerPrefix: "ledger of \(vocabulary.program)'s imports"],
        readsDamagedWAL: readsDamagedWAL)
      if !showsSecrets { inspection.maskSecrets() }
      // A line of the text has one name or value, whatever that holds.
      var shown = inspection
      shown.store = RawText.oneLine(shown.store)
      let keys = shown.metadata.ownKeys.map { (RawText.oneLine($0.key), RawText.oneLine($0.value)) }
      shown.metadata.ownKeys = Dictionary(keys, uniquingKeysWith: { first, _ in first })
      return Report(
        text: shown.text(), json: try json(inspection), exitCode: .ok, hasFindings: !inspection.remarks.isEmpty)
    }
  }

  /// What is wrong with a store; see `StoreVerification`.
  ///
  /// - Parameters:
  ///   - store: The path of the store.
  ///   - model: The path of a model; without one, the model that is found.
  ///   - embeddedModels: The names of embedded models that may be the store's.
  ///   - readsDamagedWAL: Whether a damaged write-ahead log is read up to its first wrong page instead of being refused.
  /// - Throws: As `inspection(of:model:embeddedModels:vocabulary:readsDamagedWAL:showsSecrets:)`.
  public static func verification(
    of store: String, model: String? = nil, embeddedModels: [String], readsDamagedWAL: Bool = false
  ) throws(Failure) -> Report {
    try explained(store, model: model) { store, model in
      let verification = try StoreVerification(
        storeAt: store, modelFile: model, embeddedModels: embeddedModels, readsDamagedWAL: readsDamagedWAL)
      var shown = verification
      shown.store = RawText.oneLine(shown.store)
      return Report(
        text: shown.text(), json: try json(verification),
        exitCode: verification.errors > 0 ? .dataError : .ok, hasFindings: !verification.findings.isEmpty)
    }
  }

  private static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }

  private static func explained<Result>(
    _ store: String, model: String?, _ body: (URL, URL?) throws -> Result
  ) throws(Failure) -> Result {
    let location = StoreLocation(store)
    if !location.isServer { try checkFile(store) }
    if let model, !mayExist(model) {
      throw Failure(description: "the model \(model) does not exist; check the path", exitCode: .noInput)
    }
    do {
      return try body(try location.url(), model.map { URL(fileURLWithPath: $0) })
    } catch let failure as RunFailure {
      throw Failure(description: failure.message, exitCode: failure.exitCode)
    } catch {
      let known = error as NSError
      let failure = RunFailure(store: known, path: nil)
      throw Failure(
        description: DamagedWAL.message(known),
        // Nothing is created here, so what can't be opened is not a store; a pipe, for example.
        exitCode: failure.exitCode == .cannotCreate ? .noInput : failure.exitCode)
    }
  }

  private static func checkFile(_ store: String) throws(Failure) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: store, isDirectory: &isFolder) else {
      throw Failure(description: "the store \(store) does not exist; check the path", exitCode: .noInput)
    }
    if isFolder.boolValue {
      throw Failure(description: "\(store) is a folder; name the store's .sqlite in it", exitCode: .noInput)
    }
  }
}
