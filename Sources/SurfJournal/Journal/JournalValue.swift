import Foundation
import ManagedObjectModel
import OpenCoreData
import PipelineEngine

/// The value of one attribute of an object.
public enum JournalValue: Sendable, Hashable {
  /// No value: nil.
  case none
  /// A text.
  case text(String)
  /// A whole number.
  case number(Int64)
  /// A date.
  case date(Date)
  /// A floating-point number.
  case real(Double)
  /// True or false.
  case boolean(Bool)
  /// A decimal number.
  case decimal(Decimal)
  /// A UUID.
  case uuid(UUID)
  /// Bytes, also those that a transformer made of an object.
  case data(Data)

  /// The value as in an export, dates exactly in ISO 8601, bytes as base64; nil for no value.
  public var text: String? {
    switch self {
    case .none: nil
    case .text(let text): text
    case .number(let number): String(number)
    // A date outside the calendar's range still has a number of seconds.
    case .date(let date):
      DateFormat.iso8601.string(date.timeIntervalSinceReferenceDate) ?? "\(date.timeIntervalSinceReferenceDate)"
    case .real(let number): "\(number)"
    case .boolean(let isTrue): isTrue ? "true" : "false"
    case .decimal(let number): "\(number)"
    case .uuid(let uuid): uuid.uuidString
    case .data(let data): data.base64EncodedString()
    }
  }

  /// The value on one line of a terminal: bytes by their number.
  var shortText: String? {
    if case .data(let data) = self { return data.count == 1 ? "1 byte" : "\(data.count) bytes" }
    return text.map(RawText.oneLine)
  }

  /// Converts a value of an attribute of this type.
  init(_ value: StoredValue, _ type: ColumnType) {
    switch value {
    case .null: self = .none
    case .text(let text): self = .text(text)
    case .integer(let number): self = type == .boolean ? .boolean(number != 0) : .number(number)
    case .real(let number): self = type == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .real(number)
    case .decimal(let number): self = .decimal(number)
    case .blob(let data): self = type == .uuid ? UUID(bytes: data).map(Self.uuid) ?? .data(data) : .data(data)
    }
  }

  /// The value as a store has it.
  var stored: StoredValue {
    switch self {
    case .none: .null
    case .text(let text): .text(text)
    case .number(let number): .integer(number)
    case .date(let date): .real(date.timeIntervalSinceReferenceDate)
    case .real(let number): .real(number)
    case .boolean(let isTrue): .integer(isTrue ? 1 : 0)
    case .decimal(let number): .decimal(number)
    case .uuid(let uuid): .blob(uuid.bytes)
    case .data(let data): .blob(data)
    }
  }
}

extension JournalValue: Encodable {
  /// Encodes numbers as numbers, no value as null, dates, decimals, UUIDs, bytes and texts as texts.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .none: try container.encodeNil()
    case .number(let number): try container.encode(number)
    case .real(let number) where number.isFinite: try container.encode(number)
    case .boolean(let isTrue): try container.encode(isTrue)
    case .text, .date, .real, .decimal, .uuid, .data: try container.encode(text)
    }
  }
}
