/// Texts as the JSON of a definition file writes them.
package enum DefinitionText {
  /// The text in quotes, as a pipeline's file has it: dollar signs before a brace, which would begin a variable, are
  /// doubled.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    var dollars = 0
    for scalar in text.unicodeScalars {
      if scalar == "{" { result += String(repeating: "$", count: dollars) }
      dollars = scalar == "$" ? dollars + 1 : 0
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F || scalar.value == 0x2028 || scalar.value == 0x2029 {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }

  package static func list(_ texts: [String]) -> String { "[\(texts.map(quoted).joined(separator: ", "))]" }

  /// The text in one line, for a comment.
  package static func comment(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map {
          $0.value < 0x20 || $0.value == 0x7F || $0.value == 0x2028 || $0.value == 0x2029 ? " " : $0
        }))
  }
}
