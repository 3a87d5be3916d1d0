import PipelineEngine
import SurfJournal

/// The entities and attributes of the store that a command line names, of its model, or of the journal.
struct StoreVocabulary {
  private let model: RunModel?
  private let entity: String?

  init(_ line: CompletedLine) {
    let definition = PipelineDefinition.surfLog.using(model: line.given["model"])
    // A store that another program has locked for longer gives no names.
    let access = RunModel.Access(readsDamagedWAL: true, timeoutSeconds: 0.2)
    model = try? RunModel(definition, given: nil, store: line.store, access: access)
    entity = line.given["entity"]
  }

  var entities: [String] { model?.entityNames ?? [] }

  var attributes: [String] { model?.attributeNames(of: entity, usual: PipelineDefinition.surfLog.entity) ?? [] }
}
