/// Changes letter case in UTF-8: ASCII in place, everything else by Unicode's mappings, independent of the locale.
enum LetterCase: Sendable {
  case upper, lower
  /// The first letter of each word becomes a capital, the others small. Marks, digits and apostrophes continue a
  /// word.
  case title

  func apply(to text: inout [UInt8]) {
    if text.contains(where: { $0 >= 0x80 }) {
      let whole = String(decoding: text, as: UTF8.self)
      let changed =
        switch self {
        case .upper: whole.uppercased()
        case .lower: whole.lowercased()
        case .title: Self.titled(whole)
        }
      text.removeAll(keepingCapacity: true)
      text.append(contentsOf: changed.utf8)
      return
    }
    var isInWord = false
    for index in text.indices {
      let byte = text[index]
      let isLetter = (byte | 0x20) &- 97 < 26
      if isLetter { text[index] = isUpper(isInWord) ? byte & 0xDF : byte | 0x20 }
      isInWord = isLetter || (isInWord && (byte == 39 || byte &- 48 < 10)) || byte &- 48 < 10
    }
  }

  private func isUpper(_ isInWord: Bool) -> Bool {
    switch self {
    case .upper: true
    case .lower: false
    case .title: !isInWord
    }
  }

  private static func titled(_ text: String) -> String {
    var titled = ""
    var isInWord = false
    for scalar in text.unicodeScalars {
      let properties = scalar.properties
      let isLetter = properties.isAlphabetic
      if isLetter {
        titled += isInWord ? properties.lowercaseMapping : properties.titlecaseMapping
      } else {
        titled.unicodeScalars.append(scalar)
      }
      let goesOn = scalar == "'" || scalar == "’" || properties.isCaseIgnorable
      isInWord = isLetter || properties.numericType != nil || (isInWord && goesOn)
    }
    return titled
  }
}
