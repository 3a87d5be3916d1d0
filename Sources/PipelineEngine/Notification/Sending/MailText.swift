import Foundation

/// A mail as sendmail takes it: header and text, in lines of ASCII.
struct MailText {
  let to: [String]
  let from: String?
  let subject: String
  let text: String
  let date: Date

  /// The longest line of the encoding (RFC 2045, 6.7), and the most bytes of a text in one encoded word (RFC 2047, 2).
  private static let (lineMax, wordBytesMax) = (76, 42)

  var bytes: [UInt8] {
    var lines: [String] = []
    if let from { lines.append("From: \(from)") }
    lines += [
      "To: \(to.joined(separator: ",\n "))", "Subject: \(Self.encodedHeader(subject))", "Date: \(Self.dateText(date))",
      "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable",
      "Auto-Submitted: auto-generated", "",
    ]
    lines += text.split(separator: "\n", omittingEmptySubsequences: false).flatMap(Self.encodedLines)
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// A text for a header: one line, with encoded words where it is not ASCII.
  private static func encodedHeader(_ text: String) -> String {
    let text = RawText.oneLine(text)
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), text.utf8.count <= 900 { return text }
    var words: [[UInt8]] = [[]]
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if words[words.count - 1].count + bytes.count > wordBytesMax { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?utf-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\n ")
  }

  private static func encodedLines(_ line: Substring) -> [String] {
    var lines = [""]
    let bytes = Array(line.utf8)
    for (index, byte) in bytes.enumerated() {
      let isLast = index == bytes.count - 1
      let isPlain =
        byte >= 0x21 && byte < 0x7F && byte != UInt8(ascii: "=") || byte == UInt8(ascii: " ") && !isLast
      var piece = isPlain ? String(UnicodeScalar(byte)) : String(format: "=%02X", byte)
      // A line of one dot ends a message for some programs.
      if piece == ".", lines[lines.count - 1].isEmpty { piece = "=2E" }
      if lines[lines.count - 1].utf8.count + piece.utf8.count >= lineMax {
        lines[lines.count - 1] += "="
        lines.append("")
      }
      lines[lines.count - 1] += piece
    }
    return lines
  }

  private static func dateText(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
    return formatter.string(from: date)
  }
}
