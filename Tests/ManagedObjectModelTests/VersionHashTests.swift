import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel

@Suite("Version hashes equal Apple's")
struct VersionHashTests {
  @Test("JournalEntry has the hash of the surf journal's stores")
  func journalEntry() throws {
    let xml = """
      <model userDefinedModelVersionIdentifier="">
        <entity name="JournalEntry" representedClassName="SurfJournal.JournalEntry" syncable="YES">
          <attribute name="date" optional="YES" attributeType="Date"/>
          <attribute name="height" optional="YES" attributeType="String"/>
          <attribute name="location" optional="YES" attributeType="String"/>
          <attribute name="period" optional="YES" attributeType="String"/>
          <attribute name="rating" optional="YES" attributeType="Integer 16" defaultValueString="0"/>
          <attribute name="wind" optional="YES" attributeType="String"/>
        </entity>
      </model>
      """
    let model = try NSManagedObjectModel.load(xml: Data(xml.utf8))
    let hash = try #require(model.entitiesByName["JournalEntry"]?.versionHash)
    #expect(hash.base64EncodedString() == "Tj6pVjI2H01Wp34HCsdGhqINZK/14EnrYaNBIVLu3wc=")
    model.freeze()
    #expect(model.entitiesByName["JournalEntry"]?.versionHash == hash, "freezing changes nothing")
  }

  @Test(
    "each store's metadata holds the hashes of its model",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: SharedStore.all)
  func storeHashes(store: SharedStore) throws {
    let model = try NSManagedObjectModel.load(contentsOf: store.modelURL)
    let metadata = try store.metadata()
    let stored = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
    #expect(
      model.entityVersionHashesByName.mapValues { $0.base64EncodedString() }
        == stored.mapValues { $0.base64EncodedString() })
    if let digest = metadata[NSStoreModelVersionHashesDigestKey] as? String {
      #expect(VersionHash.digest(of: model.entityVersionHashesByName) == digest)
    }
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let identifiers = try #require(metadata[NSStoreModelVersionIdentifiersKey] as? [String])
    #expect(model.versionIdentifiers == Set(identifiers.map { AnyHashable($0) }))
  }

  @Test(
    "the hashes that Xcode wrote for every version of the sample model are ours too",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
  func compiledVersions() throws {
    let folder = SharedFiles.stores.appendingPathComponent("coredataplus-sample1-v1")
    let info = try Data(contentsOf: folder.appendingPathComponent("SampleModel.momd/VersionInfo.plist"))
    let list = try PropertyListSerialization.propertyList(from: info, format: nil) as? [String: Any]
    let versions = try #require(
      list?["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
    #expect(versions.count == 3)
    for (name, hashes) in versions {
      let url = folder.appendingPathComponent("SampleModel.xcdatamodeld/\(name).xcdatamodel")
      #expect(try NSManagedObjectModel.load(contentsOf: url).entityVersionHashesByName == hashes, "\(name)")
    }
  }

  /// One change to the description of an attribute, and whether a store has to know of it.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let changesHash: Bool
    let apply: @Sendable (NSAttributeDescription) -> Void
  }

  @Test(
    "a hash changes with what a store keeps and with nothing else",
    arguments: [
      Change(testDescription: "name", changesHash: true) { $0.name = "other" },
      Change(testDescription: "type", changesHash: true) { $0.attributeType = .integer32AttributeType },
      Change(testDescription: "optional", changesHash: true) { $0.isOptional = false },
      Change(testDescription: "modifier", changesHash: true) { $0.versionHashModifier = "2" },
      Change(testDescription: "external storage", changesHash: true) {
        $0.allowsExternalBinaryDataStorage = true
      },
      Change(testDescription: "preserved", changesHash: true) { $0.preservesValueInHistoryOnDeletion = true },
      Change(testDescription: "transient", changesHash: true) { $0.isTransient = true },
      Change(testDescription: "default", changesHash: false) { $0.defaultValue = 5 },
      Change(testDescription: "bounds", changesHash: false) { $0.minimumValue = 1 },
      Change(testDescription: "renaming", changesHash: false) { $0.renamingIdentifier = "old" },
      Change(testDescription: "user info", changesHash: false) { $0.userInfo = ["a": "b"] },
      Change(testDescription: "scalar", changesHash: false) { $0.usesScalarValueType = true },
    ])
  func whatCounts(change: Change) {
    let attribute = NSAttributeDescription()
    attribute.name = "rating"
    attribute.attributeType = .integer16AttributeType
    let before = attribute.versionHash
    change.apply(attribute)
    #expect((attribute.versionHash != before) == change.changesHash)
  }

  @Test(
    "SHA-2 gives the digests of the standard's examples",
    arguments: [
      (
        "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
          + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
      ),
      (
        "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
          + "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"
      ),
    ])
  func standardExamples(message: String, sha256: String, sha512: String) {
    #expect(hex(SHA256.digest(of: Array(message.utf8))) == sha256)
    #expect(hex(SHA512.digest(of: Array(message.utf8))) == sha512)
  }

  @Test("SHA-2 of every length around the block borders equals python3's hashlib")
  func hashlib() throws {
    let program = """
      import hashlib
      for n in range(0, 300):
          m = bytes((i * 7 + n) % 256 for i in range(n))
          print(hashlib.sha256(m).hexdigest(), hashlib.sha512(m).hexdigest())
      """
    let lines = try Programs.output(of: ["python3", "-c", program]).split(separator: "\n")
    #expect(lines.count == 300)
    for (count, line) in lines.enumerated() {
      let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
      #expect(
        "\(hex(SHA256.digest(of: message))) \(hex(SHA512.digest(of: message)))" == line, "\(count) bytes")
    }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
