import Foundation
import OpenCoreData
import PipelineEngine

/// The value of one attribute of an entry.
public enum JournalValue: Sendable, Hashable {
  /// No value: nil.
  case none
  case text(String)
  case number(Int64)
  case date(Date)

  /// The value as in an export, dates exactly in ISO 8601; nil for no value.
  public var text: String? {
    switch self {
    case .none: nil
    case .text(let text): text
    case .number(let number): String(number)
    // A date outside the calendar's range still has a number of seconds.
    case .date(let date):
      DateFormat.iso8601.string(date.timeIntervalSinceReferenceDate) ?? "\(date.timeIntervalSinceReferenceDate)"
    }
  }

  /// Converts a value of `value(forKey:)`.
  init(_ value: Any?) {
    switch value {
    case let text as String: self = .text(text)
    case let date as Date: self = .date(date)
    case let number as NSNumber: self = .number(number.int64Value)
    default: self = .none
    }
  }

  /// The value for `setValue(_:forKey:)`.
  var foundationValue: Any? {
    switch self {
    case .none: nil
    case .text(let text): text
    case .number(let number): NSNumber(value: number)
    case .date(let date): date
    }
  }
}

extension JournalValue: Encodable {
  /// Encodes numbers as numbers, no value as null, dates and texts as texts.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .none: try container.encodeNil()
    case .number(let number): try container.encode(number)
    case .text, .date: try container.encode(text)
    }
  }
}
