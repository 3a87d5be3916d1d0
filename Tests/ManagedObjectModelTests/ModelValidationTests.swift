import Foundation
import Testing

@testable import ManagedObjectModel

@Suite("Values are checked against the model with Core Data's codes")
struct ModelValidationTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: NSAttributeType
    var setUp: @Sendable (NSAttributeDescription) throws -> Void = { _ in }
    let value: StoredValue
    let code: Int?
  }

  private static let bounds: @Sendable (NSAttributeDescription) -> Void = {
    $0.minimumValue = 1
    $0.maximumValue = 5
  }
  private static let dates: @Sendable (NSAttributeDescription) -> Void = {
    $0.minimumValue = Date(timeIntervalSinceReferenceDate: 0)
    $0.maximumValue = Date(timeIntervalSinceReferenceDate: 100)
  }
  private static let lengths: @Sendable (NSAttributeDescription) -> Void = {
    $0.minimumLength = 2
    $0.maximumLength = 4
  }
  private static let pattern: @Sendable (NSAttributeDescription) throws -> Void = {
    try $0.setRegularExpression("a|ab|[0-9]+")
  }
  private static let mandatory: @Sendable (NSAttributeDescription) -> Void = { $0.isOptional = false }

  static let numbers: [Case] = [
    Case(
      testDescription: "optional nil", type: .integer16AttributeType, setUp: bounds, value: .null, code: nil),
    Case(
      testDescription: "mandatory nil", type: .integer16AttributeType, setUp: mandatory, value: .null,
      code: 1570),
    Case(
      testDescription: "least", type: .integer16AttributeType, setUp: bounds, value: .integer(1), code: nil),
    Case(
      testDescription: "most", type: .integer16AttributeType, setUp: bounds, value: .integer(5), code: nil),
    Case(
      testDescription: "too large", type: .integer16AttributeType, setUp: bounds, value: .integer(6),
      code: 1610),
    Case(
      testDescription: "too small", type: .integer16AttributeType, setUp: bounds, value: .integer(0),
      code: 1620),
    Case(testDescription: "above Int16", type: .integer16AttributeType, value: .integer(32768), code: 1610),
    Case(testDescription: "below Int16", type: .integer16AttributeType, value: .integer(-32769), code: 1620),
    Case(testDescription: "above Int32", type: .integer32AttributeType, value: .integer(1 << 31), code: 1610),
    Case(testDescription: "any Int64", type: .integer64AttributeType, value: .integer(.min), code: nil),
    Case(testDescription: "Boolean 2", type: .booleanAttributeType, value: .integer(2), code: 1610),
    Case(
      testDescription: "5.5", type: .doubleAttributeType, setUp: bounds, value: .real(5.5), code: 1610),
    Case(
      testDescription: "Float 0.5", type: .floatAttributeType, setUp: bounds, value: .real(0.5), code: 1620),
    Case(testDescription: "infinite", type: .doubleAttributeType, value: .real(.infinity), code: nil),
    Case(testDescription: "NaN", type: .doubleAttributeType, value: .real(.nan), code: 1550),
    Case(
      testDescription: "Decimal 5.01", type: .decimalAttributeType, setUp: bounds, value: .decimal(5.01),
      code: 1610),
    Case(
      testDescription: "5 exact", type: .decimalAttributeType, setUp: bounds, value: .decimal(5), code: nil),
    Case(testDescription: "text as number", type: .integer16AttributeType, value: .text("1"), code: 1550),
    Case(testDescription: "number as text", type: .stringAttributeType, value: .integer(1), code: 1550),
  ]

  static let others: [Case] = [
    Case(testDescription: "date", type: .dateAttributeType, setUp: dates, value: .real(100), code: nil),
    Case(
      testDescription: "too late", type: .dateAttributeType, setUp: dates, value: .real(100.5), code: 1630),
    Case(testDescription: "too soon", type: .dateAttributeType, setUp: dates, value: .real(-1), code: 1640),
    Case(testDescription: "no date", type: .dateAttributeType, value: .real(.nan), code: 1650),
    Case(
      testDescription: "length", type: .stringAttributeType, setUp: lengths, value: .text("🌊a"), code: nil),
    Case(
      testDescription: "too long", type: .stringAttributeType, setUp: lengths, value: .text("abcde"),
      code: 1660),
    Case(
      testDescription: "long in UTF-16", type: .stringAttributeType, setUp: lengths, value: .text("🌊🌊🌊"),
      code: 1660),
    Case(
      testDescription: "short", type: .stringAttributeType, setUp: lengths, value: .text("a"), code: 1670),
    Case(
      testDescription: "pattern", type: .stringAttributeType, setUp: pattern, value: .text("ab"), code: nil),
    Case(
      testDescription: "part of it", type: .stringAttributeType, setUp: pattern, value: .text("12b"),
      code: 1680),
    Case(
      testDescription: "line after it", type: .stringAttributeType, setUp: pattern, value: .text("12\n"),
      code: 1680),
    Case(
      testDescription: "empty is a value", type: .stringAttributeType, setUp: mandatory, value: .text(""),
      code: nil),
    Case(
      testDescription: "URI", type: .URIAttributeType, value: .text("https://example.org/a%20b"), code: nil),
    Case(testDescription: "bad URI", type: .URIAttributeType, value: .text("http://[oops"), code: 1690),
    Case(testDescription: "UUID", type: .UUIDAttributeType, value: .blob(Data(count: 16)), code: nil),
    Case(testDescription: "short UUID", type: .UUIDAttributeType, value: .blob(Data(count: 15)), code: 1550),
    Case(testDescription: "data", type: .binaryDataAttributeType, value: .blob(Data()), code: nil),
    Case(testDescription: "data as text", type: .stringAttributeType, value: .blob(Data()), code: 1550),
  ]

  @Test("each rule has its code", arguments: numbers + others)
  func rules(case test: Case) throws {
    let attribute = NSAttributeDescription()
    attribute.name = "rating"
    attribute.attributeType = test.type
    try test.setUp(attribute)
    let violation = attribute.constraintViolation(of: test.value)
    #expect(violation?.code == test.code)
    if let violation { #expect(violation.message.hasPrefix("rating ")) }
  }

  @Test("the message says what is wrong, where, and what to do")
  func message() {
    let attribute = NSAttributeDescription()
    attribute.name = "rating"
    attribute.attributeType = .integer16AttributeType
    attribute.maximumValue = 5
    let entity = NSEntityDescription()
    entity.name = "JournalEntry"
    entity.properties = [attribute]
    #expect(
      attribute.constraintViolation(of: .integer(7))?.message
        == "JournalEntry.rating is 7, too large. Give a number of at most 5.")
  }

  @Test("bounds read back as they were set")
  func bounds() throws {
    let attribute = NSAttributeDescription()
    attribute.attributeType = .dateAttributeType
    let date = Date(timeIntervalSinceReferenceDate: 5)
    attribute.minimumValue = date
    #expect(attribute.minimumValue as? Date == date && attribute.maximumValue == nil)
    attribute.minimumValue = nil
    #expect(attribute.constraints.isEmpty)
    #expect(throws: (any Error).self) { try attribute.setRegularExpression("a)(b") }
    #expect(attribute.regularExpression == nil)
  }

  struct Conversion: @unchecked Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: NSAttributeType
    // Values of the cases are plain numbers, texts and dates; nothing changes them.
    let value: Any?
    let stored: StoredValue?
  }

  @Test(
    "Swift values become stored values of the attribute's type, or none",
    arguments: [
      Conversion(testDescription: "nil", type: .stringAttributeType, value: nil, stored: .null),
      Conversion(testDescription: "NSNull", type: .stringAttributeType, value: NSNull(), stored: .null),
      Conversion(testDescription: "Int", type: .integer16AttributeType, value: 7, stored: .integer(7)),
      Conversion(
        testDescription: "UInt8", type: .integer64AttributeType, value: UInt8(7), stored: .integer(7)),
      Conversion(
        testDescription: "NSNumber", type: .integer32AttributeType, value: NSNumber(value: 7),
        stored: .integer(7)),
      Conversion(
        testDescription: "whole Double", type: .integer32AttributeType, value: 7.0, stored: .integer(7)),
      Conversion(testDescription: "fraction", type: .integer32AttributeType, value: 7.5, stored: nil),
      Conversion(
        testDescription: "boxed fraction", type: .integer32AttributeType, value: NSNumber(value: 7.5),
        stored: nil),
      Conversion(testDescription: "too wide", type: .integer64AttributeType, value: UInt64.max, stored: nil),
      Conversion(testDescription: "Bool", type: .booleanAttributeType, value: true, stored: .integer(1)),
      Conversion(testDescription: "Int to Double", type: .doubleAttributeType, value: 2, stored: .real(2)),
      Conversion(
        testDescription: "Float", type: .floatAttributeType, value: 0.1, stored: .real(Double(Float(0.1)))),
      Conversion(
        testDescription: "Decimal", type: .decimalAttributeType, value: Decimal(5), stored: .decimal(5)),
      Conversion(
        testDescription: "NSDecimalNumber", type: .decimalAttributeType,
        value: NSDecimalNumber(string: "1.10"),
        stored: .decimal(Decimal(string: "1.1") ?? 0)),
      Conversion(
        testDescription: "Date", type: .dateAttributeType, value: Date(timeIntervalSinceReferenceDate: 1.5),
        stored: .real(1.5)),
      Conversion(testDescription: "String", type: .stringAttributeType, value: "é", stored: .text("é")),
      Conversion(testDescription: "number as String", type: .stringAttributeType, value: 5, stored: nil),
      Conversion(
        testDescription: "UUID", type: .UUIDAttributeType,
        value: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        stored: .blob(Data(1...16))),
      Conversion(
        testDescription: "URL", type: .URIAttributeType, value: URL(string: "https://a.b/"),
        stored: .text("https://a.b/")),
      Conversion(
        testDescription: "Data", type: .binaryDataAttributeType, value: Data([1]), stored: .blob(Data([1]))),
    ])
  func conversions(conversion: Conversion) {
    let attribute = NSAttributeDescription()
    attribute.attributeType = conversion.type
    #expect(attribute.storedValue(from: conversion.value) == conversion.stored)
  }
}
