import Foundation

extension PipelineDefinition {
  /// The definition as a minimal file: without members that have their default value, so that a definition that
  /// extends it is not bound to values that were never set.
  package var minimalJSON: JSONValue {
    guard
      case .object(var members) = Self.json(self).without(
        Self.json(PipelineDefinition(name: "", vocabulary: vocabulary)))
    else {
      return .object([:])
    }
    if members["dialect"] != nil { members["dialect"] = dialect.minimalJSON(vocabulary) }
    if !parts.isEmpty { members["parts"] = .array(parts.map { $0.minimalPart(of: self) }) }
    if let export { members["export"] = export.minimalJSON(vocabulary) }
    return .object(members)
  }

  /// A part without what it inherits from the definition.
  private func minimalPart(of whole: PipelineDefinition) -> JSONValue {
    guard case .object(var members) = Self.json(self).without(Self.json(whole)) else { return .object([:]) }
    members = members.filter { Self.partKeys.contains($0.key) && $0.value != .null }
    members["entity"] = .string(entity)
    if members["dialect"] != nil { members["dialect"] = dialect.minimalJSON(vocabulary) }
    if !columns.isEmpty { members["columns"] = .array(columns.map { $0.minimalJSON }) }
    return .object(members)
  }

  package static func json(_ value: some Encodable) -> JSONValue {
    guard let data = try? JSONEncoder().encode(value) else { return .null }
    return (try? JSONDecoder().decode(JSONValue.self, from: data)) ?? .null
  }
}

extension ColumnDefinition {
  fileprivate var minimalJSON: JSONValue {
    guard
      case .object(var members) = PipelineDefinition.json(self).without(PipelineDefinition.json(ColumnDefinition(name)))
    else { return .string(name) }
    if let link, case .object(let all) = PipelineDefinition.json(link) {
      let usual = PipelineDefinition.json(LinkDefinition(by: []))
      members["link"] = JSONValue.object(all).without(usual)
    }
    return members.isEmpty ? .string(name) : .object(members.merging(["name": .string(name)]) { $1 })
  }
}

extension ExportDefinition {
  package func minimalJSON(_ vocabulary: DefinitionVocabulary) -> JSONValue {
    guard case .object(var members) = PipelineDefinition.json(self).without(PipelineDefinition.json(ExportDefinition()))
    else { return .object([:]) }
    if members["dialect"] != nil { members["dialect"] = dialect.minimalJSON(vocabulary) }
    return .object(members)
  }
}

extension DialectDefinition {
  /// The name alone, if the dialect is a named one.
  fileprivate func minimalJSON(_ vocabulary: DefinitionVocabulary) -> JSONValue {
    vocabulary.namedDialects.contains(self) ? .string(name) : PipelineDefinition.json(self)
  }
}

extension JSONValue {
  /// An object without the members that are equal in `usual`.
  fileprivate func without(_ usual: JSONValue) -> JSONValue {
    guard case .object(let members) = self, case .object(let usual) = usual else { return self }
    return .object(members.filter { usual[$0.key] != $0.value })
  }
}
