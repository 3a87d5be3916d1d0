/// Where each part of a definition was written, for mistakes that only a run or the model can show.
package struct SourceMap: Sendable {
  /// A variable that was not set, so that its default counted.
  package struct Defaulted: Sendable {
    package let name: String
    package let origin: LocatedValue.Origin
  }

  /// By key path within the whole.
  var origins: [String: LocatedValue.Origin] = [:]
  /// The files of the definition and of those that it extends, in the order of the chain.
  package var documents: [String?] = []
  package var defaulted: [Defaulted] = []
  /// The key path of each column that could be read: of those that are declared some may be missing.
  var columnPaths: [String] = []

  /// Of something that the document lacks, the place of what it is missing from.
  func origin(of path: String) -> LocatedValue.Origin? {
    var front = path[...]
    while true {
      if var origin = origins[String(front)] {
        let rest = path[front.endIndex...]
        origin.path += origin.path.isEmpty && rest.hasPrefix(".") ? rest.dropFirst() : rest
        return origin
      }
      guard !front.isEmpty else { return nil }
      front = front[..<(front.lastIndex { $0 == "." || $0 == "[" } ?? front.startIndex)]
    }
  }

  /// The mistake with its place, and the key path that it has there.
  func mistake(_ path: String, _ message: String) -> PipelineError.Mistake {
    guard let origin = origin(of: path) else { return PipelineError.Mistake(path: path, message: message) }
    return mistake(at: origin, message)
  }

  func mistake(at origin: LocatedValue.Origin, _ message: String) -> PipelineError.Mistake {
    PipelineError.Mistake(
      path: origin.path, file: origin.document == 0 ? nil : documents[origin.document], line: origin.location?.line,
      column: origin.location?.column, message: message)
  }

  /// The error of a run with the places of its mistakes.
  package func located(_ error: PipelineError) -> PipelineError {
    PipelineError(
      code: error.code, file: error.file ?? documents.first ?? nil,
      mistakes: error.mistakes.map { $0.line == nil && $0.file == nil ? mistake($0.path, $0.message) : $0 })
  }
}

/// What a definition remembers of its files is no part of what it says: two that say the same are equal.
extension SourceMap: Hashable {
  package static func == (left: SourceMap, right: SourceMap) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}
