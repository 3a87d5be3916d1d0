import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel

/// Version hashes, compared with those of a program in Python that was written from the rule alone
/// (docs/coredata-format.md, "Version hashes").
@Suite struct VersionHashRuleTests {
  /// Prints the name and hash of each entity of a model in XML, then the digest and the checksum of them all.
  private static let program = #"""
    import base64, hashlib, struct, sys
    import xml.etree.ElementTree as XML

    TYPES = {"Undefined": 0, "Integer 16": 100, "Integer 32": 200, "Integer 64": 300, "Decimal": 400, "Double": 500,
             "Float": 600, "String": 700, "Boolean": 800, "Date": 900, "Binary": 1000, "UUID": 1100, "URI": 1200,
             "Transformable": 1800}
    sha = lambda data: hashlib.sha256(data).digest()
    model = XML.fromstring(sys.stdin.buffer.read())
    entities = {e.get("name"): e for e in model.findall("entity")}

    def compiled(text):
        for function in ("count", "sum"):
            if text.endswith(".@" + function):
                return f"{function}:({text[:-len(function) - 2]})"
        return text

    def property_hash(p):
        if p.get("derived") == "YES":
            return sha(compiled(p.get("derivationExpression")).encode())
        flags = (p.get("optional") == "YES") | (p.get("transient") == "YES") << 1
        common = sha(p.get("name").encode() + bytes([flags, 0]) + p.get("versionHashModifier", "").encode())
        if p.tag == "attribute":
            kept = p.get("preserveAfterDeletion") == "YES"
            external = p.get("allowsExternalBinaryDataStorage") == "YES"
            number = TYPES[p.get("attributeType", "Undefined")]
            return sha(common + struct.pack("<i", number) + b"\1" * external + b"\1" * kept)
        inverse = p.get("inverseName", "")
        if inverse == p.get("name") and p.get("inverseEntity") == p.owner:
            inverse = ""
        many = p.get("toMany") == "YES"
        counts = struct.pack("<ii", int(p.get("maxCount", 0 if many else 1)), int(p.get("minCount", 0)))
        ordered = b"\1\0" if p.get("ordered") == "YES" else b""
        return sha(common + p.get("destinationEntity").encode() + inverse.encode() + counts + ordered)

    class Property:
        def __init__(self, element, owner):
            self.tag, self.owner, self.get = element.tag, owner, element.get

    def properties(name):
        if name is None:
            return {}
        entity = entities[name]
        found = properties(entity.get("parentEntity"))
        for element in list(entity.findall("attribute")) + list(entity.findall("relationship")):
            found[element.get("name")] = Property(element, name)
        return found

    def entity_hash(name):
        entity = entities[name]
        parent = entity.get("parentEntity")
        data = name.encode() + bytes([entity.get("isAbstract") == "YES"]) + (entity_hash(parent) if parent else b"")
        stored = {n.encode(): p for n, p in properties(name).items() if p.get("transient") != "YES"}
        for key in sorted(stored):
            data += property_hash(stored[key])
        data += entity.get("versionHashModifier", "").encode()
        constraints = [".".join(c.get("value") for c in u) for u in entity.findall(".//uniquenessConstraint")]
        return sha(data + "".join(sorted(constraints)).encode())

    hashes = {name.encode(): entity_hash(name) for name in entities}
    for name in sorted(hashes):
        print(name.decode(), base64.b64encode(hashes[name]).decode())
    both = b"".join(name + hashes[name] for name in sorted(hashes))
    print("digest", base64.b64encode(hashlib.sha512(both).digest()).decode())
    print("checksum", base64.b64encode(sha(b"".join(hashes[name] for name in sorted(hashes)))).decode())
    """#

  private func check(_ xml: Data) throws {
    let expected = try Programs.output(of: ["python3", "-c", Self.program], input: xml)
    let model = try NSManagedObjectModel.load(xml: xml)
    let hashes = model.entityVersionHashesByName
    let lines = hashes.sorted { String.byteOrder($0.key, $1.key) }.map { "\($0.key) \($0.value.base64EncodedString())" }
    let sums = ["digest \(VersionHash.digest(of: hashes))", "checksum \(model.versionChecksum)"]
    #expect((lines + sums).joined(separator: "\n") + "\n" == expected)
  }

  /// Modifiers together with constraints, several constraints in no order, relationships that are their own inverse,
  /// inherited derivations.
  private static let model = """
    <model>
      <entity name="Work" isAbstract="YES" versionHashModifier="w2">
        <attribute name="title" attributeType="String" versionHashModifier="t"/>
        <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="mood" optional="YES" transient="YES" attributeType="String"/>
        <attribute name="pageCount" derived="YES" derivationExpression="pages.@count" attributeType="Integer 64"/>
        <attribute name="changed" optional="YES" derived="YES" derivationExpression="now()" attributeType="Date"/>
        <attribute name="publisherName" optional="YES" derived="YES" derivationExpression="publisher.name" attributeType="String"/>
        <relationship name="pages" toMany="YES" ordered="YES" minCount="1" maxCount="900" destinationEntity="Page" inverseName="work" inverseEntity="Page"/>
        <relationship name="publisher" optional="YES" maxCount="1" destinationEntity="Publisher"/>
        <relationship name="like" optional="YES" toMany="YES" destinationEntity="Work" inverseName="like" inverseEntity="Work"/>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="title"/><constraint value="publisher"/></uniquenessConstraint>
          <uniquenessConstraint><constraint value="cover"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="book" parentEntity="Work">
        <attribute name="folded" optional="YES" derived="YES" derivationExpression="canonical:(title)" attributeType="String"/>
        <relationship name="twin" optional="YES" maxCount="1" destinationEntity="book" inverseName="twin" inverseEntity="book"/>
      </entity>
      <entity name="Page">
        <relationship name="work" maxCount="1" destinationEntity="Work" inverseName="pages" inverseEntity="Work"/>
      </entity>
      <entity name="Publisher" versionHashModifier="7"><attribute name="name" attributeType="String"/></entity>
    </model>
    """

  @Test func `Modifiers, constraints, self-inverse relationships and derivations are hashed by the rule`() throws {
    try check(Data(Self.model.utf8))
  }

  @Test(arguments: [
    "Sources/SurfJournal/SurfJournalModel.xcdatamodeld/SurfJournalModel.xcdatamodel",
    "Tests/ModelGeneratorTests/Harbour.xcdatamodeld/Harbour.xcdatamodel",
    "Tests/ModelGeneratorTests/Harbour.xcdatamodeld/Harbour 2.xcdatamodel",
  ])
  func `The samples' models have the hashes of the rule`(_ path: String) throws {
    try check(Data(contentsOf: Repository.file(path + "/contents")))
  }

  @Test(
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)), arguments: SharedStore.all)
  func `The models of Apple's stores have the hashes of the rule`(_ store: SharedStore) throws {
    try check(Data(contentsOf: store.modelURL.appendingPathComponent("contents")))
  }

  @Test func `A derivation has one hash in a source and in a compiled model`() {
    func hash(_ text: String) -> Data {
      let attribute = NSDerivedAttributeDescription()
      (attribute.name, attribute.attributeType) = ("total", .integer64AttributeType)
      attribute.derivationExpressionFormat = text
      return attribute.versionHash
    }
    for (source, compiled) in [
      ("pages.@count", "count:(pages)"), ("pages.words.@sum", "sum:(pages.words)"),
      ("canonical: (name)", "canonical:(name)"),
      ("primaryLabel.code", "primaryLabel.code"), ("now()", "now()"),
    ] {
      #expect(hash(source) == Data(SHA256.digest(of: Array(compiled.utf8))), "\(source)")
      #expect(hash(compiled) == hash(source), "\(source)")
    }
  }

  @Test func `An entity with a derivation of unknown form is compared by its name`() {
    for (text, isExact) in [
      ("pages.@count", true), ("first ++ last", false), ("max:(pages)", false), ("a.@min.b", false),
    ] {
      let attribute = NSDerivedAttributeDescription()
      (attribute.name, attribute.attributeType) = ("total", .integer64AttributeType)
      attribute.derivationExpressionFormat = text
      let entity = NSEntityDescription()
      entity.name = "Book"
      entity.properties = [attribute]
      #expect(entity.hasExactVersionHash == isExact, "\(text)")
    }
  }
}
