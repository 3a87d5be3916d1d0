/// Arrays as PostgreSQL reads them from a text: as many values as there are elements, so that a statement's text does not
/// depend on these.
enum ServerArray {
  static func text<Element>(_ elements: [Element], _ text: (Element) -> String) -> String {
    "{" + elements.map(text).joined(separator: ",") + "}"
  }

  static func number(_ number: Double) -> String {
    number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension KeyDigest {
  /// As 32 digits.
  var hex: String {
    [high, low].map {
      String(repeating: "0", count: $0.leadingZeroBitCount / 4) + ($0 == 0 ? "" : String($0, radix: 16))
    }
    .joined()
  }
}
