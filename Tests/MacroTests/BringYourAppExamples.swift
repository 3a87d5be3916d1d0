import Foundation
import Testing

#if canImport(CoreData)
  import CoreData
#else
  import OpenCoreData
  import OpenCoreDataMacros
#endif

// The examples of the article BringYourApp, compiled. A change to an example changes both places.

final class Surfer: NSManagedObject {
  @Managed var name: String
  @Managed var level: Level
  @Managed var born: Date?
  @Managed private(set) var trips: Set<Trip>
}

extension Surfer {
  @ManagedMethod func addToTrips(_ value: Trip)
  @ManagedMethod func removeFromTrips(_ values: NSSet)
}

enum Level: Int16 {
  case beginner, expert
}

final class Trip: NSManagedObject {
  @Managed var days: Int32
  @Managed var surfer: Surfer?

  override class var propertyValidators: [String: PropertyValidator] { ["days": validator(Trip.validateDays)] }

  func validateDays(_ value: inout Any?) throws {
    guard let days = value as? Int32, days > 90 else { return }
    throw CocoaError(.validationNumberTooLarge)
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    if surfer == nil { throw CocoaError(.validationMissingMandatoryProperty) }
  }
}

private func stack() {
  let container = NSPersistentContainer(name: "Trips")
  _ = container
}

private func model() {
  let model = NSManagedObjectModel.embedded(named: "Trips")
  _ = model
}

@Suite("The classes of the article check what they say")
struct BringYourAppTests {
  private static let xml = """
    <model>
      <entity name="Surfer" representedClassName="Surfer">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="level" optional="YES" attributeType="Integer 16"/>
        <attribute name="born" optional="YES" attributeType="Date"/>
        <relationship name="trips" optional="YES" toMany="YES" destinationEntity="Trip" inverseName="surfer" inverseEntity="Trip"/>
      </entity>
      <entity name="Trip" representedClassName="Trip">
        <attribute name="days" optional="YES" attributeType="Integer 32"/>
        <relationship name="surfer" optional="YES" maxCount="1" destinationEntity="Surfer" inverseName="trips" inverseEntity="Surfer"/>
      </entity>
    </model>
    """

  @Test("Links, enumerations and checks")
  func classes() throws {
    let context = try ManagedTests.context(Self.xml)
    try context.performAndWait {
      let (surfer, trip) = (Surfer(context: context), Trip(context: context))
      surfer.level = .expert
      trip.days = 91
      let missing = #expect(throws: (any Error).self) { try context.save() }
      #expect(missing != nil)
      surfer.addToTrips(trip)
      #expect(throws: CocoaError.self) { try context.save() }
      trip.days = 7
      try context.save()
      #expect(surfer.trips == [trip] && surfer.level == .expert)
      surfer.removeFromTrips(NSSet(object: trip))
      #expect(trip.surfer == nil)
    }
  }
}
