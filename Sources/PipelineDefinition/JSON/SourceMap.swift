/// The source locations of a definition's parts, for mistakes that only a run or the model can detect.
package struct SourceMap: Sendable {
  /// A variable that was not set, so that its default was used.
  package struct Defaulted: Sendable {
    package let name: String
    package let origin: LocatedValue.Origin
  }

  /// By key path in the merged tree.
  var origins: [String: LocatedValue.Origin] = [:]
  /// The files of the definition and of those that it extends, in the order of the chain.
  package var documents: [String?] = []
  package var defaulted: [Defaulted] = []
  /// The key path of each column that could be read; declared columns with mistakes are left out.
  var columnPaths: [String] = []

  /// The origin of a key path; for an absent member, the origin of the object that lacks it.
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

  /// The mistake with its source location and its key path there.
  func mistake(_ path: String, _ message: String) -> PipelineError.Mistake {
    guard let origin = origin(of: path) else { return PipelineError.Mistake(path: path, message: message) }
    return mistake(at: origin, message)
  }

  func mistake(at origin: LocatedValue.Origin, _ message: String) -> PipelineError.Mistake {
    PipelineError.Mistake(
      path: origin.path, file: origin.document == 0 ? nil : documents[origin.document], line: origin.location?.line,
      column: origin.location?.column, message: message)
  }

  /// The error of a run with the source locations of its mistakes.
  package func located(_ error: PipelineError) -> PipelineError {
    PipelineError(
      code: error.code, file: error.file ?? documents.first ?? nil,
      mistakes: error.mistakes.map { $0.line == nil && $0.file == nil ? mistake($0.path, $0.message) : $0 })
  }
}

/// A source map is not part of a definition's meaning: definitions with the same content are equal.
extension SourceMap: Hashable {
  package static func == (left: SourceMap, right: SourceMap) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}
