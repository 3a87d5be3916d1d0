import Foundation
import PipelineEngine

extension Arguments {
  /// The sort order that an option gives, each `ATTRIBUTE`, `ATTRIBUTE:asc` or `ATTRIBUTE:desc`.
  func sortKeys(_ name: String) throws(CommandFailure) -> [ExportDefinition.SortKey] {
    let keys: [ExportDefinition.SortKey] = try strings(name).map { text throws(CommandFailure) in
      let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count <= 2, !parts[0].isEmpty, parts.count == 1 || ["asc", "desc"].contains(parts[1]) else {
        throw mistake("--\(name) is '\(text)'; write ATTRIBUTE, ATTRIBUTE:asc or ATTRIBUTE:desc")
      }
      return ExportDefinition.SortKey(parts[0], ascending: parts.last != "desc")
    }
    var known: Set<String> = []
    for key in keys where !known.insert(key.attribute).inserted {
      throw mistake("--\(name) names '\(key.attribute)' twice; the first one decides, so leave the other out")
    }
    return keys
  }

  /// The names of attributes that an option gives, separated by commas; nil if it is not given.
  func attributeList(_ name: String) throws(CommandFailure) -> [String]? {
    guard let text = string(name) else { return nil }
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    if names.contains("") { throw mistake("--\(name) is '\(text)'; write attributes with commas between") }
    return names
  }
}
