/// One element of a model file with the number of its first line, which errors report.
struct XMLElementNode {
  let name: String
  let attributes: [String: String]
  let line: Int
  var children: [XMLElementNode] = []
  /// The text directly in the element, blanks and line ends included.
  var content = ""

  func children(named name: String) -> [XMLElementNode] { children.filter { $0.name == name } }

  /// Model files write flags as YES and NO.
  func flag(_ attribute: String, default fallback: Bool = false) -> Bool {
    guard let text = attributes[attribute]?.uppercased() else { return fallback }
    return text == "YES" || text == "TRUE" || text == "1"
  }

  /// The attribute's text; nil if it is missing or empty.
  func text(_ attribute: String) -> String? {
    attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
  }
}
