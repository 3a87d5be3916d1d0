import Foundation
import ManagedObjectModel
import Testing

// Rule: the value of a transformable that others have damaged is an object or nil, and never ends the program. (Apple
// documentation: NSSecureUnarchiveFromDataTransformer.)

@Suite("Archives that Foundation cannot read are refused")
struct UnarchivingTests {
  private let transformer = NSSecureUnarchiveFromDataTransformer()

  @Test("A damage at which Foundation would stop the program reads as nil", arguments: DamagedArchive.allCases)
  func damaged(_ archive: DamagedArchive) throws {
    #expect(transformer.transformedValue(try archive.data(isDamaged: false)) != nil)
    #expect(transformer.transformedValue(try archive.data(isDamaged: true)) == nil)
  }

  @Test("Values of every class that is allowed are read back")
  func whole() throws {
    let url = try #require(NSURL(string: "a", relativeTo: URL(string: "b://c/")))
    let value: NSDictionary = [
      "list": NSMutableArray(array: [1.5, true, -3, "é", NSNull()]), "set": NSSet(array: ["a", 2]),
      "url": url, "id": NSUUID(), "day": NSDate(),
      "data": NSData(data: Data([1])), "none": NSMutableDictionary(), "text": NSMutableString(string: "x"),
    ]
    let written = try #require(transformer.reverseTransformedValue(value) as? Data)
    #expect(transformer.transformedValue(written) as? NSDictionary == value)
  }

  /// Foundation's archiver asks each object for its hash, and that of a decimal number calls itself without end.
  @Test("A value with a decimal number has no archive, at any depth")
  func decimal() {
    let number = NSDecimalNumber(string: "1.5")
    let values: [Any] = [
      number, NSArray(object: number), NSDictionary(object: NSArray(object: number), forKey: NSString("a")),
      ["a": [number]], Decimal(1), Set([[Decimal(1)]]),
    ]
    for value in values { #expect(transformer.reverseTransformedValue(value) == nil, "\(type(of: value))") }
    #expect(transformer.reverseTransformedValue(NSNumber(1.5)) != nil)
  }
}
