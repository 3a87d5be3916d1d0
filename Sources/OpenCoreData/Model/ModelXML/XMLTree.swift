import Foundation
import FoundationXML

/// One element of a model file with the line it stands on, which errors tell.
struct XMLElementNode {
  let name: String
  let attributes: [String: String]
  let line: Int
  var children: [XMLElementNode] = []

  func children(named name: String) -> [XMLElementNode] { children.filter { $0.name == name } }

  /// Model files write flags as YES and NO.
  func flag(_ attribute: String, default fallback: Bool = false) -> Bool {
    guard let text = attributes[attribute]?.uppercased() else { return fallback }
    return text == "YES" || text == "TRUE" || text == "1"
  }

  /// The attribute's text; nil where it is missing or empty.
  func text(_ attribute: String) -> String? {
    attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Reads XML into a tree. Own small tree, because XMLDocument keeps no line numbers.
final class XMLTreeReader: NSObject, XMLParserDelegate {
  private var open: [XMLElementNode] = []
  private var root: XMLElementNode?

  static func read(_ data: Data, file: URL?) throws -> XMLElementNode {
    let reader = XMLTreeReader()
    let parser = XMLParser(data: data)
    parser.delegate = reader
    guard parser.parse(), let root = reader.root else {
      let reason = parser.parserError.map { " (\($0.localizedDescription))" } ?? ""
      throw ModelFileError(
        file: file, line: max(1, parser.lineNumber), problem: "This is not well-formed XML\(reason).",
        advice: "Repair the file, or export it again from the model editor.")
    }
    return root
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?, attributes attributeDict: [String: String]
  ) {
    open.append(XMLElementNode(name: elementName, attributes: attributeDict, line: parser.lineNumber))
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?
  ) {
    guard let closed = open.popLast() else { return }
    if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
  }
}
