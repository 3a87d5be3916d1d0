import Foundation

/// One object of an `xcmapping.xml`.
struct MappingSourceObject {
  enum Kind: String {
    case model = "XDDEVMAPPINGMODEL"
    case entity = "XDDEVENTITYMAPPING"
    case attribute = "XDDEVATTRIBUTEMAPPING"
    case relationship = "XDDEVRELATIONSHIPMAPPING"

    /// The attributes that its objects may have.
    var knownNames: Set<String> {
      switch self {
      case .model: ["sourcemodelpath", "sourcemodeldata", "destinationmodelpath", "destinationmodeldata"]
      case .entity:
        [
          "name", "sourcename", "destinationname", "mappingtypename", "mappingnumber", "migrationpolicyclassname",
          "autogenerateexpression", "sourceexpressiondata", "sourcefilterpredicatestring", "userinfodata",
        ]
      case .attribute: ["name", "autogenerateexpression", "valueexpressiondata", "userinfodata"]
      case .relationship: Self.attribute.knownNames.union(["sourcekeypath", "sourcemappingname"])
      }
    }
  }

  let id: String
  let kind: Kind
  private let file: URL
  private let line: Int
  private let texts: [String: String]
  private let ids: [String: [String]]

  /// - Throws: `ModelFileError` for a kind of object or an attribute that is not known.
  init(_ node: XMLElementNode, file: URL) throws(ModelFileError) {
    guard let id = node.text("id"), let kind = node.text("type").flatMap(Kind.init(rawValue:)) else {
      throw Self.error("An object of the type '\(node.text("type") ?? "")' is not known.", in: file, line: node.line)
    }
    (self.id, self.kind, self.file, line) = (id, kind, file, node.line)
    var texts: [String: String] = [:]
    for attribute in node.children(named: "attribute") {
      let name = attribute.text("name") ?? ""
      guard kind.knownNames.contains(name) else {
        throw Self.error(
          "'\(name)' is not a known attribute of an object \(kind.rawValue).", in: file, line: attribute.line)
      }
      texts[name] = attribute.content
    }
    self.texts = texts
    ids = Dictionary(
      node.children(named: "relationship").map { node in
        (node.text("name") ?? "", (node.text("idrefs") ?? "").split(separator: " ").map(String.init))
      }, uniquingKeysWith: +)
  }

  /// The advice names the form that leaves nothing to be generated.
  static func error(_ problem: String, in file: URL, line: Int) -> ModelFileError {
    ModelFileError(
      file: file, line: line, problem: problem,
      advice: "Give the .cdm that Xcode compiles it to, or make the mapping model in code.")
  }

  func error(_ problem: String) -> ModelFileError { Self.error(problem, in: file, line: line) }

  /// Nil for an empty text.
  func text(_ name: String) -> String? { texts[name].flatMap { $0.isEmpty ? nil : $0 } }

  func references(_ name: String) -> [String] { ids[name] ?? [] }

  /// Whether the editor generates the expression. Attributes do not say so.
  var isGenerated: Bool { text("autogenerateexpression").map { $0 != "0" } ?? true }

  /// Bytes that are written in base64.
  func data(_ name: String) throws(ModelFileError) -> Data? {
    guard let text = text(name) else { return nil }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
      throw error("Its \(name) is not in base64.")
    }
    return data
  }

  func expression(_ name: String) throws(ModelFileError) -> NSExpression? {
    try archived(name) { archive throws(ArchiveProblem) in
      try archive.mappingExpression(archive.root, of: text("name") ?? text("destinationname") ?? "")
    }
  }

  func userInfo() throws(ModelFileError) -> [String: Any]? {
    try archived("userinfodata") { archive throws(ArchiveProblem) in try archive.userInfo(archive.root) }
  }

  private func archived<Value>(
    _ name: String, _ read: (KeyedArchive) throws(ArchiveProblem) -> Value?
  ) throws(ModelFileError) -> Value? {
    guard let data = try data(name) else { return nil }
    do {
      return try read(try KeyedArchive(data))
    } catch {
      throw self.error("Its \(name) can't be read: \(error).")
    }
  }
}
