import Foundation

/// The order of texts in a locale.
enum LocalizedText {
  /// Below 0 if `left` precedes `right`, above 0 if it follows.
  static func compare(_ left: Span<UInt8>, _ right: Span<UInt8>, options: TextOptions) -> Int {
    var compared: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compared.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compared.insert(.diacriticInsensitive) }
    return String(left).compare(String(right), options: compared, locale: .current).rawValue
  }
}

extension TextOperation {
  /// Whether it holds for two texts that compare like `order` and 0; nil for operations that look inside of a text.
  func holds(order: Int) -> Bool? {
    switch self {
    case .equal: order == 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    case .contains, .beginsWith, .endsWith, .like, .matches: nil
    }
  }
}

extension String {
  /// The text whose UTF-8 the bytes are.
  init(_ bytes: Span<UInt8>) {
    self.init(
      decoding: [UInt8](capacity: bytes.count) { output in
        for index in bytes.indices { output.append(bytes[index]) }
      }, as: UTF8.self)
  }
}
