import DefinitionTestSupport
import Foundation
import PipelineEngine
import TestSupport

/// What `inspect`, `verify` and `export` answer about a store, by the code that the commands run.
struct StoreAnswers: Equatable {
  /// The content that a command shows, and what else it reports.
  struct Answer: Equatable {
    var content: String?
    /// Remarks, findings, issues, or the reason for a refusal.
    var reports: [String]
  }

  /// By the command's name, for exports with the entity's.
  var answers: [String: Answer] = [:]

  /// The answers about files that are put into a new folder.
  init(_ files: HarbourStore.Files) async throws {
    let folder = try TemporaryFolder()
    for (ending, data) in files { try data.write(to: folder.file(HarbourStore.name + ending)) }
    let (store, model) = (folder.path(HarbourStore.name), try HarbourStore.writeModel(in: folder))
    answers["inspect"] = Self.answer(hidden: ["file", "store", "remarks"], reports: "remarks", folder) {
      () throws(StoreReports.Failure) in
      try StoreReports.inspection(of: store, model: model, embeddedModels: [], vocabulary: .journal).json
    }
    answers["verify"] = Self.answer(hidden: ["store", "findings"], reports: "findings", folder) {
      () throws(StoreReports.Failure) in
      try StoreReports.verification(of: store, model: model, embeddedModels: []).json
    }
    for entity in HarbourStore.entities {
      answers["export \(entity)"] = try await Self.export(entity, store: store, folder)
    }
    // Nothing that the commands do changes the files.
    for (ending, data) in files where try folder.data(HarbourStore.name + ending) != data {
      answers["changed file \(ending)"] = Answer(content: "changed", reports: [])
    }
  }

  private static func answer(
    hidden: [String], reports: String, _ folder: TemporaryFolder,
    _ body: () throws(StoreReports.Failure) -> String
  ) -> Answer {
    do {
      guard var object = try JSONSerialization.jsonObject(with: Data(body().utf8)) as? [String: Any] else {
        return Answer(content: nil, reports: ["no object"])
      }
      let found = (object[reports] as? [[String: Any]] ?? []).map { "\($0["code"] ?? "") \($0["message"] ?? "")" }
      for key in hidden { object[key] = nil }
      let text = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
      return Answer(
        content: plain(String(decoding: text, as: UTF8.self), folder), reports: found.map { plain($0, folder) })
    } catch {
      return Answer(content: nil, reports: [plain("\(error)", folder)])
    }
  }

  private static func export(_ entity: String, store: String, _ folder: TemporaryFolder) async throws -> Answer {
    let output = "\(entity).csv"
    let definition = PipelineDefinition(entity: entity, vocabulary: .journal)
    let model = try HarbourStore.model()
    let summary = try await run(definition, .export, store: store, model: model) { $0.output = folder.path(output) }
    var reports = summary.issues.listed.map(\.description)
    if let failure = summary.failure { reports.append(failure.message) }
    if summary.exitCode != .ok { reports.append("exit \(summary.exitCode)") }
    return Answer(
      content: folder.exists(output) ? try folder.text(output) : nil, reports: reports.map { plain($0, folder) })
  }

  private static func plain(_ text: String, _ folder: TemporaryFolder) -> String {
    text.replacing(folder.path(""), with: "").replacing(folder.url.path, with: "")
      .replacing(folder.url.path.replacing("/", with: "\\/"), with: "")
  }

  // MARK: Comparison

  /// The commands whose answer differs from the undamaged store's though they report nothing.
  func silent(against whole: StoreAnswers) -> [String] {
    var result: [String] = []
    for (name, answer) in answers.sorted(by: { $0.key < $1.key }) {
      guard let expected = whole.answers[name] else {
        result.append(name)
        continue
      }
      if answer.content != expected.content, Set(answer.reports).isSubset(of: expected.reports) { result.append(name) }
    }
    // What another command shows differently or refuses is a finding of the verification.
    let differs = answers.contains { $0.key != "verify" && $0.value != whole.answers[$0.key] }
    if differs, answers["verify"] == whole.answers["verify"] { result.append("verify") }
    return result
  }

  /// Whether the exports are those of the other store.
  func hasExports(of other: StoreAnswers) -> Bool {
    answers.allSatisfy { !$0.key.hasPrefix("export") || $0.value.content == other.answers[$0.key]?.content }
  }
}
