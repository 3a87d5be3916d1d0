/// Date formats of C's strftime, which Table Schema uses, in the letters of ``DateFormat``.
package enum StrftimePattern {
  private static let directives: [Character: Character] = [
    "Y": "y", "y": "y", "m": "M", "d": "d", "H": "H", "M": "m", "S": "s", "e": "d",
  ]

  /// What the message about a format that can't be read adds if it is one of strftime; empty otherwise.
  package static func hint(for format: String) -> String {
    guard format.contains("%"), let letters = try? letters(format) else { return "" }
    return "; in these letters it is '\(letters)'"
  }

  /// The same format in letters: `%d/%m/%Y` is `d/M/yyyy`.
  ///
  /// - Throws: `PipelineError` for a directive that a format has no letter for, such as the name of a month.
  package static func letters(_ format: String) throws(PipelineError) -> String {
    // Numbers side by side have a fixed number of digits; others may lack a leading zero.
    let isFixed = format.contains(/%[a-zA-Z]%[a-zA-Z]/)
    var letters = ""
    var quoted = ""
    var rest = format[...]
    while let character = rest.popFirst() {
      if character.isASCII, character.isLetter {
        quoted.append(character)
        continue
      }
      if !quoted.isEmpty { letters += "'\(quoted)'" }
      quoted = ""
      guard character == "%" else {
        letters += character == "'" ? "''" : String(character)
        continue
      }
      guard let directive = rest.popFirst() else {
        throw PipelineError(
          "\"\(format)\" ends with a single %; remove "
            + "it")
      }
      switch directive {
      case "%": letters.append("%")
      case "Y": letters += "yyyy"
      case "y": letters += "yy"
      case "z": letters += "XX"
      case "f": letters += "SSSSSS"
      default:
        guard let letter = directives[directive] else {
          throw PipelineError(
            "\"\(format)\" has %\(directive), which is not supported; use %Y %y %m %d %H %M %S %f %z")
        }
        letters += String(repeating: letter, count: isFixed ? 2 : 1)
      }
    }
    return quoted.isEmpty ? letters : letters + "'\(quoted)'"
  }
}

extension StrftimePattern {
  /// A pattern's directives; nil if strftime has none for a part of it.
  package static func directives(_ format: DateFormat) -> String? {
    guard let pattern = format.pattern else { return nil }
    var text = ""
    for part in pattern.parts {
      switch part {
      case .literal(let byte):
        let character = String(Character(Unicode.Scalar(byte)))
        text += character == "%" ? "%%" : character
      case .year(let digits): text += digits == 2 ? "%y" : "%Y"
      case .month: text += "%m"
      case .day: text += "%d"
      case .hour: text += "%H"
      case .minute: text += "%M"
      case .second: text += "%S"
      case .fraction: text += "%f"
      case .zone: text += "%z"
      }
    }
    return text
  }

  /// Whether dates of this format have a time of the day.
  package static func hasTime(_ format: DateFormat) -> Bool {
    format.pattern?.parts.contains { part in
      if case .hour = part { true } else { false }
    } ?? true
  }
}
