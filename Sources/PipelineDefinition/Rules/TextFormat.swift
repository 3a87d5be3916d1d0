/// A syntax that a text must have. It is checked without a name server or registry.
public enum TextFormat: String, Sendable, Hashable, Codable, CaseIterable {
  /// RFC 9562: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12 with hyphens between, in any letter case.
  case uuid
  /// RFC 3986 with a scheme: `https://example.org/a%20b`, `mailto:a@example.org`; ASCII only, no spaces.
  case uri
  /// One `@`; before it up to 64 bytes of what RFC 5322 allows without quotes and without adjacent dots; after it at
  /// least two labels of letters, digits and inner hyphens. Letters of any script are allowed; at most 254 bytes in
  /// all.
  case email

  /// The format as a noun, for messages.
  var noun: String {
    switch self {
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .email: "an e-mail address"
    }
  }

  var example: String {
    switch self {
    case .uuid: "123e4567-e89b-12d3-a456-426614174000"
    case .uri: "https://example.org/spots/7"
    case .email: "name@example.org"
    }
  }

  func matches(_ bytes: Span<UInt8>) -> Bool {
    switch self {
    case .uuid: Self.isUUID(bytes)
    case .uri: Self.isURI(bytes)
    case .email: Self.isEmail(bytes)
    }
  }

  private static func isUUID(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count == 36 else { return false }
    for index in 0..<36 {
      let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
      if isHyphen ? bytes[index] != UInt8(ascii: "-") : !isHexDigit(bytes[index]) { return false }
    }
    return true
  }

  private static func isURI(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0, isLetter(bytes[0]) else { return false }
    var at = 1
    while at < bytes.count, isLetter(bytes[at]) || isDigit(bytes[at]) || schemeMarks.contains(bytes[at]) { at += 1 }
    guard bytes.has(UInt8(ascii: ":"), at: at), at + 1 < bytes.count else { return false }
    return isURIReference(bytes.extracting((at + 1)..<bytes.count))
  }

  /// Whether the bytes can be a URI reference: every byte is a character of RFC 3986, and each percent sign precedes
  /// two hexadecimal digits.
  static func isURIReference(_ bytes: Span<UInt8>) -> Bool {
    var at = 0
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "%") {
        guard at + 2 < bytes.count, isHexDigit(bytes[at + 1]), isHexDigit(bytes[at + 2]) else { return false }
        at += 3
      } else {
        guard isLetter(bytes[at]) || isDigit(bytes[at]) || uriMarks.contains(bytes[at]) else { return false }
        at += 1
      }
    }
    return true
  }

  private static func isEmail(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count <= 254, let at = (0..<bytes.count).first(where: { bytes[$0] == UInt8(ascii: "@") }) else {
      return false
    }
    guard at <= 64, isDotted(bytes.extracting(0..<at), part: { isAtom($0) }) != nil else { return false }
    let domain = bytes.extracting((at + 1)..<bytes.count)
    guard let labels = isDotted(domain, part: { isLetter($0) || isDigit($0) || $0 >= 0x80 || $0 == hyphen }) else {
      return false
    }
    for index in 0..<domain.count where domain[index] == hyphen {
      // A label must not begin or end with a hyphen.
      let isInner = index > 0 && index + 1 < domain.count && domain[index - 1] != dot && domain[index + 1] != dot
      if !isInner { return false }
    }
    return labels >= 2
  }

  /// The number of parts between dots; `nil` if one of them is empty or contains another byte.
  private static func isDotted(_ bytes: Span<UInt8>, part: (UInt8) -> Bool) -> Int? {
    var (parts, length) = (1, 0)
    for index in 0..<bytes.count {
      if bytes[index] == dot {
        if length == 0 { return nil }
        (parts, length) = (parts + 1, 0)
      } else if part(bytes[index]) {
        length += 1
      } else {
        return nil
      }
    }
    return length > 0 ? parts : nil
  }

  private static let dot = UInt8(ascii: ".")
  private static let hyphen = UInt8(ascii: "-")
  private static let schemeMarks = Array("+-.".utf8)
  private static let uriMarks = Array("-._~:/?#[]@!$&'()*+,;=".utf8)
  private static let atomMarks = Array("!#$%&'*+-/=?^_`{|}~".utf8)

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 97 < 26 }
  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }
  private static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 97 < 6 }

  private static func isAtom(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte >= 0x80 || atomMarks.contains(byte)
  }
}
