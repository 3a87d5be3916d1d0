import Foundation

extension RunSummary {
  /// The report as JSON: keys sorted, indented, dates in ISO 8601, ending with a line break.
  ///
  /// In addition to the stored properties it has the derived `exitCode` and `rowsPerSecond`. Control and format
  /// characters are written as escapes, so that a terminal or an editor shows what is there.
  ///
  /// - Throws: `EncodingError` for a figure that is not finite, which a run does not yield.
  public func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return RawText.json(try encoder.encode(Document(summary: self))) + Data("\n".utf8)
  }

  /// Reads what `json()` wrote.
  ///
  /// - Parameters:
  ///   - data: The JSON, in UTF-8.
  ///   - program: The name of the program that wrote it.
  /// - Throws: `DecodingError` for another text.
  public init(json data: Data, program: String = DefinitionVocabulary().program) throws {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    self = try decoder.decode(RunSummary.self, from: data)
    self.program = program
  }

  /// The summary and its derived values in one object.
  private struct Document: Encodable {
    let summary: RunSummary

    enum DerivedKeys: String, CodingKey {
      case exitCode, rowsPerSecond
    }

    func encode(to encoder: any Encoder) throws {
      try summary.encode(to: encoder)
      var container = encoder.container(keyedBy: DerivedKeys.self)
      try container.encode(summary.exitCode, forKey: .exitCode)
      try container.encode(summary.rowsPerSecond.rounded(), forKey: .rowsPerSecond)
    }
  }
}
