import Foundation
import OpenCoreData
import Testing

/// The generated classes and properties are those that Xcode makes of the same model.
@Suite struct GeneratedCodeTests {
  /// The types are checked by the compiler; that the property reads and writes its own key, by the other suite.
  @Test func `Each attribute type has the Swift type that Xcode gives it`() {
    let dates: [WritableKeyPath<Boat, Date?>] = [\.built]
    let strings: [WritableKeyPath<Boat, String?>] = [\.class, \.name]
    let numbers: [WritableKeyPath<Boat, NSNumber?>] = [\.draught]
    let decimals: [WritableKeyPath<Boat, NSDecimalNumber?>] = [\.mooringFee]
    let data: [WritableKeyPath<Boat, Data?>] = [\.photo]
    let identifiers: [WritableKeyPath<Boat, UUID?>] = [\.registration]
    let addresses: [WritableKeyPath<Boat, URL?>] = [\.manual]
    let objects: [WritableKeyPath<Boat, NSObject?>] = [\.hull]
    let custom: [WritableKeyPath<Boat, [String]?>] = [\.flags]
    let untyped: [WritableKeyPath<Boat, Any?>] = [\.note]
    let all: [[AnyKeyPath]] = [
      dates, strings, numbers, decimals, data, identifiers, addresses, objects, custom, untyped,
    ]
    #expect(all.joined().count == 11)
  }

  @Test func `A scalar attribute is a plain number, a scalar date a time interval`() {
    let small: [WritableKeyPath<Boat, Int16>] = [\.crew]
    let large: [WritableKeyPath<CarFerry, Int64>] = [\.cars]
    let single: [WritableKeyPath<Boat, Float>] = [\.length]
    let switches: [WritableKeyPath<Boat, Bool>] = [\.isMoored]
    let intervals: [WritableKeyPath<Boat, TimeInterval>] = [\.launched]
    let all: [[AnyKeyPath]] = [small, large, single, switches, intervals]
    #expect(all.joined().count == 5)
  }

  @Test func `A fetch request names the entity`() {
    #expect((Boat.fetchRequest() as NSFetchRequest<Boat>).entityName == "Boat")
    #expect((CarFerry.fetchRequest() as NSFetchRequest<CarFerry>).entityName == "CarFerry")
  }

  @Test func `Classes inherit as their entities do`() {
    #expect((Ferry.self as Any.Type) is Boat.Type)
    #expect((Shuttle.self as Any.Type) is CarFerry.Type)
  }

  /// A subclass written by hand without a word about its hooks.
  final class Tug: Boat {}

  @Test func `A generated class asks for the hooks of its superclass only, a subclass for all`() {
    #expect(Boat.lifecycleHooks == [])
    #expect(Ferry.lifecycleHooks == [])
    #expect(Shuttle.lifecycleHooks == CarFerry.lifecycleHooks)
    #expect(Tug.lifecycleHooks == .all)
    #expect(Buoy.lifecycleHooks == .all)
  }

  @Test func `Generated classes are Identifiable`() {
    #expect((Boat.self as Any.Type) is any Identifiable.Type)
    #expect((Shuttle.self as Any.Type) is any Identifiable.Type)
  }
}
