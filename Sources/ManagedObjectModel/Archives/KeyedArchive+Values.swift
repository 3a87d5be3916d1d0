import Foundation

/// Values of Foundation's classes, read by the keys with which each class archives them.
extension KeyedArchive {
  /// A String, Int64, Double, Bool, Decimal, Date, Data, UUID or URL; nil for nothing and for any other object.
  func foundationValue(_ value: ArchiveValue?) -> Any? {
    switch resolved(value) {
    case .null, .reference, .list: nil
    case .flag(let flag): flag
    case .integer(let number): number
    case .real(let number): number
    case .text(let text): text
    case .data(let data): data
    case .date(let date): date
    case .dictionary: object(value).flatMap(foundationValue)
    }
  }

  private func foundationValue(_ object: Object) -> Any? {
    switch object.className {
    case "NSString", "NSMutableString":
      guard case .text(let text) = resolved(object.values["NS.string"]) else { return text(.reference(object.index)) }
      return text
    case "NSData", "NSMutableData":
      guard case .data(let data) = resolved(object.values["NS.data"]) else { return nil }
      return data
    case "NSDate": return resolved(object.values["NS.time"]).real.map(Date.init(timeIntervalSinceReferenceDate:))
    case "NSUUID":
      guard case .data(let bytes) = resolved(object.values["NS.uuidbytes"]) else { return nil }
      return UUID(bytes: bytes)
    case "NSURL": return url(object.values["NS.base"], object.values["NS.relative"])
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return decimal(object)
    case "NSArray", "NSMutableArray":
      // Other lists are not read: archives can contain reference cycles.
      let values = object.values["NS.objects"]?.list
      let texts = values?.compactMap(text)
      return texts?.count == values?.count ? texts : nil
    default: return nil
    }
  }

  private func url(_ base: ArchiveValue?, _ relative: ArchiveValue?) -> URL? {
    guard let text = text(relative) else { return nil }
    // The base of a base is not read: archives can contain reference cycles.
    let baseText = object(base).flatMap { self.text($0.values["NS.relative"]) }
    return URL(string: text, relativeTo: baseText.flatMap { URL(string: $0) })?.absoluteURL
  }

  /// Eight 16-bit words times a power of ten.
  private func decimal(_ object: Object) -> Decimal? {
    guard case .data(let mantissa) = resolved(object.values["NS.mantissa"]), mantissa.count == 16,
      let exponent = integer(object.values["NS.exponent"]), (-128...127).contains(exponent)
    else { return nil }
    let bytes = Array(mantissa)
    let isBigEndian = integer(object.values["NS.mantissa.bo"]) == 2
    let length = min(max(integer(object.values["NS.length"]) ?? 8, 0), 8)
    let isNegative = flag(object.values["NS.negative"])
    // No words and a minus sign: not a number.
    guard length > 0 else { return isNegative ? nil : 0 }
    var number = Decimal(0)
    for word in (0..<length).reversed() {
      let (low, high) = isBigEndian ? (bytes[2 * word + 1], bytes[2 * word]) : (bytes[2 * word], bytes[2 * word + 1])
      number = number * 65536 + Decimal(Int(high) << 8 | Int(low))
    }
    let magnitude = Decimal(sign: .plus, exponent: exponent, significand: number)
    return isNegative ? -magnitude : magnitude
  }
}
