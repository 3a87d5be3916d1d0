import Foundation

/// Words of command lines that reports and messages show, to be typed or pasted.
package enum ShellWord {
  /// `text` as one word of a POSIX shell, and never as an option. Line breaks and other characters that are not shown as
  /// they are become escapes, which bash, zsh and ksh read (POSIX.1-2024, "Dollar-Single-Quotes").
  package static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "._/-+,:@%".utf8.contains(byte)
      }
    }
    let word = text.hasPrefix("-") ? "./" + text : text
    if RawText.oneLine(word) != word { return "$'" + word.unicodeScalars.map(escaped).joined() + "'" }
    return isPlain && !word.isEmpty ? word : "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\t": "\\t"
    case "'", "\\": "\\\(scalar)"
    // Bytes, for a shell whose locale has another encoding.
    case _ where RawText.oneLine(String(scalar)) != String(scalar):
      String(scalar).utf8.map { String(format: "\\%03o", $0) }.joined()
    default: String(scalar)
    }
  }
}
