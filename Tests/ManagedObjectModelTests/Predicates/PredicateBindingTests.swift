import Foundation
import ModelTestSupport
import Testing

@testable import ManagedObjectModel

@Suite("Predicate binding: constants take their attribute's type, or are refused by key, type and value")
struct PredicateBindingTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    let format: String
    let parts: [String]

    var testDescription: String { format }
  }

  static let refusals: [Refusal] = [
    .init(
      format: "rating == 'x'", parts: ["rating is an integer", "\"x\" is not", "Compare it with a number"]),
    .init(format: "rating < '3ft'", parts: ["rating is an integer", "\"3ft\""]),
    .init(format: "height == 'inf'", parts: ["height is a floating-point number", "\"inf\""]),
    .init(format: "price == 'a'", parts: ["price is a decimal number"]),
    .init(format: "isClean == 'maybe'", parts: ["isClean is a Boolean", "YES or NO"]),
    .init(format: "date > 2014", parts: ["date is a date", "2014 is not", "'2014-07-14'"]),
    .init(format: "date > '7/14/14'", parts: ["date is a date", "\"7/14/14\"", "ISO 8601"]),
    .init(format: "date > '2014-02-30'", parts: ["date is a date"]),
    .init(format: "date > '2014-02-03T25:00'", parts: ["date is a date"]),
    .init(format: "date > YES", parts: ["date is a date", "YES is not"]),
    .init(format: "name > 3", parts: ["name is text", "3 is not", "in quotes"]),
    .init(format: "name IN {'a', 3.5}", parts: ["name is text", "3.5 is not"]),
    .init(format: "name BETWEEN {'a', 3}", parts: ["name is text"]),
    .init(format: "uid == 'x'", parts: ["uid is a UUID", "36 characters"]),
    .init(format: "photo == 'x'", parts: ["photo is binary data", "Pass Data"]),
    .init(format: "link == 3", parts: ["link is a URI"]),
    .init(format: "name == rating", parts: ["name is text", "rating is an integer"]),
    .init(format: "date == height", parts: ["date is a date", "height is a floating-point number"]),
    .init(format: "rating CONTAINS '3'", parts: ["CONTAINS compares text", "rating is an integer"]),
    .init(format: "name BEGINSWITH 3", parts: ["BEGINSWITH compares text", "3 is an integer"]),
    .init(format: "name CONTAINS {1}", parts: ["a list can only follow IN or BETWEEN"]),
    .init(format: "rating == {1, 2}", parts: ["a list can only follow IN or BETWEEN"]),
    .init(format: "rating BETWEEN {1}", parts: ["BETWEEN needs a list of two bounds"]),
    .init(format: "rating BETWEEN 3", parts: ["BETWEEN needs a list of two bounds"]),
    .init(format: "rating IN 3", parts: ["IN needs a list or text"]),
    .init(format: "rating IN wind", parts: ["IN needs a list or text"]),
    .init(format: "name MATCHES '('", parts: ["not a regular expression"]),
    .init(format: "name MATCHES location", parts: ["MATCHES needs its pattern as a value"]),
    .init(format: "SELF == 'x'", parts: ["SELF"]),
    .init(format: "rating == $R", parts: ["$R has no value", "withSubstitutionVariables"]),
    .init(format: "'a' < 3", parts: ["the other side is text"]),
    .init(format: "nowhere == 3", parts: ["no attribute nowhere"]),
    .init(format: "spot.name == 'x'", parts: ["no attribute spot.name"]),
  ]

  @Test(arguments: refusals) func refused(_ test: Refusal) throws {
    let node = try PredicateParser.parse(test.format)
    #expect {
      try node.bound(to: SurfSchema())
    } throws: { error in
      let error = error as NSError
      for part in test.parts {
        #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
      }
      return error.domain == NSCocoaErrorDomain && error.code == 134060
    }
  }

  @Test("an argument of a foreign type is refused by its type's name")
  func foreignArgument() throws {
    let node = try NSPredicate(format: "rating == %@", NSObject()).predicateNode()
    #expect { try node.bound(to: SurfSchema()) } throws: {
      ($0 as NSError).localizedDescription.contains("type NSObject")
    }
  }

  @Test("each type stores the constants that are its values")
  func stored() throws {
    let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    let bytes = Data([
      0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
    ])
    let cases: [(PredicateConstant, PredicateValueType, StoredValue?)] = [
      (.real(3), .integer, .integer(3)), (.real(2.5), .integer, .real(2.5)),
      (.real(1e300), .integer, .real(1e300)),
      (.real(.nan), .integer, .null), (.decimal(3), .integer, .integer(3)),
      (.boolean(true), .integer, .integer(1)),
      (.integer(2), .boolean, .integer(2)), (.text("-7"), .integer, .integer(-7)),
      (.text(" 7"), .integer, nil),
      (.integer(1 << 53 + 1), .real, .real(0x1p53)), (.text("2.5"), .real, .real(2.5)),
      (.text("0x10"), .real, nil),
      (.decimal(Decimal(string: "123456.789") ?? 0), .real, .real(123456.789)), (.real(.nan), .real, .null),
      (.integer(3), .decimal, .real(3)), (.real(86400), .date, .real(86400)), (.integer(3), .date, nil),
      (.text("2001-01-01 00:00"), .date, .real(0)), (.text("2001-01-01T00:00:10.25Z"), .date, .real(10.25)),
      (.text("2001-01-01T02:00:00+02:00"), .date, .real(0)),
      (.text("2001-01-01T00:00-0100"), .date, .real(3600)),
      (.text("1582-01-01"), .date, PredicateConstant.text("1582-01-01").stored(as: .date)),
      (.text("2001-01-01T"), .date, nil), (.text("2001-13-01"), .date, nil), (.text("2001-1-1"), .date, nil),
      (.uuid(uuid), .uuid, .blob(bytes)), (.text(uuid.uuidString.lowercased()), .uuid, .blob(bytes)),
      (.data(bytes), .uuid, .blob(bytes)), (.data(Data([1])), .uuid, nil), (.text("x"), .text, .text("x")),
      (.integer(1), .text, nil), (.data(bytes), .blob, .blob(bytes)), (.null, .blob, .null),
      (.collection([]), .text, nil),
    ]
    for (constant, type, expected) in cases {
      #expect(constant.stored(as: type) == expected, "\(constant) as \(type)")
    }
    let url = try #require(URL(string: "http://a/b"))
    #expect(PredicateConstant.url(url).stored(as: .uri) == .text("http://a/b"))
    #expect(PredicateConstant.url(url).stored(as: .text) == nil)
  }

  @Test("a bound predicate names each attribute once, in the order of reading")
  func keys() throws {
    let bound = try PredicateParser.parse("rating > wind AND (name == 'a' OR rating == 1)").bound(
      to: SurfSchema())
    #expect(bound.keys.map(\.name) == ["rating", "wind", "name"])
    #expect(bound.keys.map(\.index) == [0, 1, 2])
    #expect(bound.keys.map(\.type) == [.integer, .integer, .text])
  }
}
