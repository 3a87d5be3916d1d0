import Foundation

extension RawText {
  /// JSON with the same values: control and format characters that an encoder leaves as they are become escapes.
  package static func json(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafeInLines) else { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if isUnsafeInLines(scalar) {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16, uppercase: true)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The same for JSON as an encoder gives it.
  package static func json(_ data: Data) -> Data {
    // Encoders escape the control characters below the space; the others begin with a byte from 7F on.
    guard data.contains(where: { $0 >= 0x7F }) else { return data }
    return Data(json(String(decoding: data, as: UTF8.self)).utf8)
  }
}
