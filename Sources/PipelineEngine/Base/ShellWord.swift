import Foundation

/// Words of command lines that reports and messages show, to be typed or pasted.
package enum ShellWord {
  /// `text` as one word of a POSIX shell, and never as an option.
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
    return isPlain && !word.isEmpty ? word : "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }
}
