import Foundation
import TestSupport

@testable import ManagedObjectModel
@testable import OpenCoreData

// Foundation declares a class of this name that can't be created here.
private typealias NSExpression = ManagedObjectModel.NSExpression

/// Waves with their spots, as plain values.
struct PlainWave: Sendable {
  var name: String?
  var rating: Int?
  var height: Double?
  /// Kept as a decimal number.
  var price: Double?
  var spot: String?
  var tagCount = 0

  static let xml = """
    <model>
      <entity name="Spot">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="waves" optional="YES" toMany="YES" destinationEntity="Wave" inverseName="spot" inverseEntity="Wave"/>
      </entity>
      <entity name="Tag">
        <relationship name="wave" optional="YES" maxCount="1" destinationEntity="Wave" inverseName="tags" inverseEntity="Wave"/>
      </entity>
      <entity name="Wave">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16" usesScalarValueType="NO"/>
        <attribute name="height" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <relationship name="spot" optional="YES" maxCount="1" destinationEntity="Spot" inverseName="waves" inverseEntity="Spot"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="wave" inverseEntity="Tag"/>
      </entity>
    </model>
    """

  init(_ generator: inout SeededGenerator) {
    func one<Value>(_ values: [Value?]) -> Value? { values[Int.random(in: 0..<values.count, using: &generator)] }
    name = one([nil, "a", "A", "b", "longer"])
    rating = one([nil, 0, 1, 2, 3, 5])
    height = one([nil, -1, 0.5, 1, 2.25])
    price = one([nil, 1, 2, 2.5, 4])
    spot = one([nil, "Rincon", "rincon", "Malibu"])
    tagCount = one([0, 0, 1, 3]) ?? 0
  }

  /// - Parameter spots: By name.
  func insert(into context: NSManagedObjectContext, _ spots: [String: NSManagedObject], _ store: NSPersistentStore) {
    let wave = NSEntityDescription.insertNewObject(forEntityName: "Wave", into: context)
    context.assign(wave, to: store)
    wave.setValue(name, forKey: "name")
    wave.setValue(rating, forKey: "rating")
    wave.setValue(height, forKey: "height")
    wave.setValue(price.map { NSDecimalNumber(value: $0) }, forKey: "price")
    wave.setValue(spot.flatMap { spots[$0] }, forKey: "spot")
    for _ in 0..<tagCount {
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      context.assign(tag, to: store)
      tag.setValue(wave, forKey: "wave")
    }
  }
}

/// A value of a result.
enum PlainResult: Hashable, Comparable {
  case none
  case number(Double)
  case text(String)

  init(_ value: Any?) {
    switch value {
    case let text as String: self = .text(text)
    case let number as NSNumber: self = .number(number.doubleValue)
    default: self = .none
    }
  }

  init(number: Double?) { self = number.map { .number($0) } ?? .none }
  init(text: String?) { self = text.map { .text($0) } ?? .none }
}

/// A column as a test writes it: its text, and what it is, written without the library.
struct PlainColumn: Sendable {
  let text: String
  /// Whether it is of all rows of a result.
  let isOfRows: Bool
  let value: @Sendable ([PlainWave]) -> PlainResult

  /// The value of a single row.
  static func row(_ text: String, _ value: @escaping @Sendable (PlainWave) -> PlainResult) -> PlainColumn {
    PlainColumn(text: text, isOfRows: false) { $0.first.map(value) ?? .none }
  }

  static func rows(_ text: String, _ value: @escaping @Sendable ([PlainWave]) -> Double?) -> PlainColumn {
    PlainColumn(text: text, isOfRows: true) { PlainResult(number: value($0)) }
  }

  /// What rows can be grouped by.
  static let groups = [
    row("name") { PlainResult(text: $0.name) }, row("rating") { PlainResult(number: $0.rating.map(Double.init)) },
    row("spot.name") { PlainResult(text: $0.spot) },
    row("lowercase(spot.name)") { PlainResult(text: $0.spot?.lowercased()) },
    row("tags.@count") { .number(Double($0.tagCount)) },
    row("price / 2") { PlainResult(number: $0.price.map { $0 / 2 }) },
    row("rating / 2") { PlainResult(number: $0.rating.map { Double($0 / 2) }) },
  ]

  /// Values of single rows, in addition.
  static let plain =
    groups + [
      row("height * 2 + 1") { PlainResult(number: $0.height.map { $0 * 2 + 1 }) },
      row("length(name)") { PlainResult(number: $0.name.map { Double($0.count) }) },
      row("TERNARY(rating > 2, 'good', 'bad')") { .text(($0.rating ?? 0) > 2 ? "good" : "bad") },
      row("max({rating, 2})") { .number(Double(max($0.rating ?? 2, 2))) },
    ]

  static let summaries = [
    rows("count(SELF)") { Double($0.count) }, rows("count(name)") { Double($0.compactMap(\.name).count) },
    rows("@count") { Double($0.count) }, rows("count(spot)") { Double($0.compactMap(\.spot).count) },
    rows("sum(rating)") { Double($0.compactMap(\.rating).reduce(0, +)) },
    rows("@sum.price") { $0.compactMap(\.price).reduce(0, +) },
    rows("sum(price) / 2") { $0.compactMap(\.price).reduce(0, +) / 2 },
    rows("sum(rating) / 2") { Double($0.compactMap(\.rating).reduce(0, +) / 2) },
    rows("sum(tags.@count)") { Double($0.map(\.tagCount).reduce(0, +)) },
    rows("sum(height * 2)") { $0.compactMap(\.height).reduce(0) { $0 + $1 * 2 } },
    rows("average(rating)") { mean($0.compactMap(\.rating).map(Double.init)) },
    rows("max(height)") { $0.compactMap(\.height).max() }, rows("min(price)") { $0.compactMap(\.price).min() },
    rows("max(rating) - min(rating)") { waves in
      let ratings = waves.compactMap(\.rating)
      return ratings.max().flatMap { most in ratings.min().map { Double(most - $0) } }
    },
    rows("1 / (sum(height) + 400)") { 1 / ($0.compactMap(\.height).reduce(0, +) + 400) },
    PlainColumn(text: "max(name)", isOfRows: true) { waves in
      PlainResult(text: waves.compactMap(\.name).max { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    },
  ]

  static var tags: NSExpressionDescription { row("tags.@count") { .number(Double($0.tagCount)) }.description("tags") }

  private static func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }

  func description(_ name: String) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: text)
    return description
  }
}
