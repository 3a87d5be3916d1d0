/// Names of a model in Swift syntax.
enum SwiftName {
  /// An identifier, in backticks if it is a keyword.
  static func escaped(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// A single-line string literal.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case "\0"..<" ", "\u{7F}": literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  /// A multiline raw string literal with as many number signs as the text requires.
  static func multilineLiteral(_ text: String) -> String {
    var signs = "#"
    while text.contains("\"\"\"\(signs)") || text.contains("\\\(signs)") { signs += "#" }
    return "\(signs)\"\"\"\n\(text)\n\"\"\"\(signs)"
  }

  /// Attribute names that would hide members of `NSManagedObject` or `NSObject`. Core Data refuses them too
  /// ("NSPropertyDescription", name).
  static let reservedByCoreData: Set<String> = [
    "changedValues", "debugDescription", "description", "entity", "faultingState", "hasChanges",
    "hasPersistentChangedValues", "hash", "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated",
    "lifecycleHooks", "managedObjectContext", "objectID", "self", "superclass",
  ]

  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue",
    "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
    "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static",
    "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
    "while",
  ]
}
