import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel

// Rules (docs/coredata-format.md, "Models of Xcode 3"): derived from `elements` files of public projects, of which one was
// converted by a later Xcode.

@Suite("A model of Xcode 3 says the same as its later form")
struct ElementsTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for name in ["Old", "New"] { try folder.makeFolder("\(name).xcdatamodel") }
    try folder.write(Self.xml, to: "New.xcdatamodel/contents")
  }

  private static let xml = """
    <model userDefinedModelVersionIdentifier="7">
      <entity name="Animal" isAbstract="YES" representedClassName="AnimalMO">
        <attribute name="age" attributeType="Integer 16" minValueString="0" defaultValueString="3"/>
        <attribute name="mood" optional="YES" transient="YES"/>
        <attribute name="born" optional="YES" attributeType="Date" indexed="YES" elementID="birth"/>
        <relationship name="homes" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade"
          destinationEntity="Home" inverseName="animal" inverseEntity="Home" maxCount="0"/>
        <userInfo><entry key="origin" value="sea"/></userInfo>
      </entity>
      <entity name="Fish" parentEntity="Animal" representedClassName="NSManagedObject" versionHashModifier="x">
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="color" optional="YES" attributeType="Transformable" valueTransformerName="Paint"/>
      </entity>
      <entity name="Home" representedClassName="NSManagedObject">
        <attribute name="place" optional="YES" attributeType="String" regularExpressionString="[a-z]+"/>
        <relationship name="animal" optional="YES" minCount="1" maxCount="1" deletionRule="Deny"
          destinationEntity="Animal" inverseName="homes" inverseEntity="Animal"/>
      </entity>
      <fetchRequest name="inPlace" entity="Home" predicateString="place == $PLACE"/>
    </model>
    """

  /// Writes `Old.xcdatamodel/elements` with the model of `xml`, after `change` was made to its list of entities.
  private func writeElements(_ change: String = "") throws {
    try Programs.python(Self.script, change, in: folder)
  }

  private var old: URL { folder.file("Old.xcdatamodel") }

  @Test("Entities, inheritance, properties, limits, user info and fetch requests; the hashes agree")
  func same() throws {
    try writeElements()
    let found = try NSManagedObjectModel.load(contentsOf: old)
    let expected = try NSManagedObjectModel.load(contentsOf: folder.file("New.xcdatamodel"))
    #expect(found.entityVersionHashesByName == expected.entityVersionHashesByName)
    #expect(found.versionIdentifiers == expected.versionIdentifiers)
    #expect(found.fetchRequestTemplates == expected.fetchRequestTemplates && found.fetchRequestTemplates.count == 1)
    for entity in expected.entities {
      let other = found.entitiesByName[entity.name ?? ""]
      #expect(other?.managedObjectClassName == entity.managedObjectClassName)
      #expect(other?.superentity?.name == entity.superentity?.name && other?.isAbstract == entity.isAbstract)
      #expect(other?.userInfo as? [String: String] == entity.userInfo as? [String: String])
      #expect(other?.indexes.map(\.name) == entity.indexes.map(\.name))
      for (name, property) in entity.propertiesByName {
        let same = other?.propertiesByName[name]
        #expect(same?.isOptional == property.isOptional && same?.isTransient == property.isTransient)
        #expect(same?.renamingIdentifier == property.renamingIdentifier)
        let (a, b) = (same as? NSAttributeDescription, property as? NSAttributeDescription)
        #expect(a?.attributeType == b?.attributeType && a?.valueTransformerName == b?.valueTransformerName)
        #expect(a?.defaultValue as? Int == b?.defaultValue as? Int)
        #expect(a?.validationPredicates.count == b?.validationPredicates.count)
        #expect(a?.allowsExternalBinaryDataStorage == b?.allowsExternalBinaryDataStorage)
        let (c, d) = (same as? NSRelationshipDescription, property as? NSRelationshipDescription)
        #expect(c?.deleteRule == d?.deleteRule && c?.isOrdered == d?.isOrdered && c?.maxCount == d?.maxCount)
        #expect(c?.inverseRelationship?.name == d?.inverseRelationship?.name)
      }
    }
  }

  @Test(
    "What is not known of the format is refused",
    arguments: [
      ("model['Home']['place'].update(type=77)", "has the type 77"),
      ("model['Home']['place'].update(kind='XDPMFetchedProperty')", "XDPMFetchedProperty"),
      ("model['Home']['animal'].update(rule=9)", "The deletion rule '9' is unknown"),
      ("model['Home']['animal'].update(to='Nobody')", "Nobody"), ("model.clear()", ""),
    ])
  func refusals(_ change: String, _ word: String) throws {
    try writeElements(change)
    if word.isEmpty {
      #expect(try NSManagedObjectModel.load(contentsOf: old).entities.isEmpty)
      return
    }
    let error = #expect(throws: NSError.self) { try NSManagedObjectModel.load(contentsOf: old) }
    #expect(error?.code == CocoaError.fileReadCorruptFile.rawValue)
    #expect(error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "")")
  }

  /// Python writes the archive in the form of Xcode 3.
  private static let script = #"""
    import plistlib, sys
    from plistlib import UID
    objects = ["$null"]
    classes = {}

    def add(value):
        objects.append(value)
        return UID(len(objects) - 1)

    def of(name, values):
        if name not in classes:
            classes[name] = add({"$classname": name, "$classes": [name, "NSObject"]})
        return add(dict(values, **{"$class": classes[name]}))

    def pack(value):
        if value is None:
            return UID(0)
        if isinstance(value, UID):
            return value
        if isinstance(value, dict):
            return of("NSMutableDictionary",
                {"NS.keys": [add(key) for key in value], "NS.objects": [pack(item) for item in value.values()]})
        if isinstance(value, list):
            return of("NSMutableArray", {"NS.objects": [pack(item) for item in value]})
        return add(value)

    def settings(values):
        properties = {key: of("XDUMLPropertyImp", {"_name": add(key), "_default": pack(value)})
            for key, value in values.items()}
        return pack({"XD_PStereotype": of("XDUMLStereotypeImp",
            {"XDBucketForOwnedAttributesstorage": pack(properties)})})

    def attribute(type, optional=True, **more):
        return dict(kind="XDPMAttribute", type=type, optional=optional, **more)

    def relation(to, inverse, many, rule, low, high, ordered=False):
        return dict(kind="XDPMRelationship", to=to, inverse=inverse, many=many, rule=rule, low=low, high=high,
            ordered=ordered, optional=True)

    model = {
        "Animal": {"age": attribute(100, False, low="0", default="3"), "mood": attribute(0, transient=True),
            "born": attribute(900, indexed=True, id="birth"),
            "homes": relation("Home", "animal", True, 2, None, 0, True)},
        "Fish": {"photo": attribute(1000, external=True), "color": attribute(1800, transformer="Paint")},
        "Home": {"place": attribute(700, pattern="[a-z]+"), "animal": relation("Animal", "homes", False, 3, 1, 1)},
    }
    exec(sys.argv[1])
    # References go both ways, so all entities and properties have their places first.
    places = {name: add({}) for name in model}
    inner = {(name, key): add({}) for name, parts in model.items() for key in parts}
    unknown = of("XDPMEntity", {"_name": add("Nobody")})

    def fill(place, name, values):
        objects[place.data] = dict(values, **{"$class": classes.get(name) or
            classes.setdefault(name, add({"$classname": name, "$classes": [name, "NSObject"]}))})

    for (name, key), place in inner.items():
        part = model[name][key]
        common = {"XD_PPSK_isOptional": part["optional"], "XD_PPSK_isTransient": part.get("transient", False),
            "XD_PPSK_isIndexed": part.get("indexed", False), "XD_PPSK_userInfo": {}, "XD_PPSK_elementID": part.get("id"),
            "XD_PPSK_versionHashModifier": None}
        if "type" in part:
            own = {"XD_PAttK_attributeType": part["type"], "XD_PAttK_defaultValueAsString": part.get("default"),
                "XD_PAttK_minValueString": part.get("low"), "XD_PAttK_maxValueString": None,
                "XD_PAttK_regularExpressionString": part.get("pattern"),
                "XD_PAttK_valueTransformerName": part.get("transformer"),
                "XD_PAttK_allowsExternalBinaryDataStorage": part.get("external", False)}
        else:
            own = {"XD_PRK_isToMany": part["many"], "XD_PRK_deleteRule": part["rule"], "XD_PRK_minCount": part["low"],
                "XD_PRK_maxCount": part["high"], "XD_PRK_ordered": part["ordered"],
                "XD_PRK_destination": places.get(part["to"], unknown),
                "XD_PRK_inverseRelationship": inner.get((part["to"], part["inverse"]))}
        fill(place, part["kind"], {"_name": add(key), "_owner": places[name],
            "XDBucketForStereotypesstorage": settings(dict(common, **own))})
    for name, place in places.items():
        above = [of("XDUMLGeneralizationImp", {"_general": places["Animal"]})] if name == "Fish" else []
        requests = [of("XDPMFetchRequest", {"_name": add("inPlace"), "_entity": places["Home"],
            "_predicateString": add("place == $PLACE")})] if name == "Home" else []
        fill(place, "XDPMEntity", {"_name": add(name), "XDBucketForGeneralizationsstorage": pack(above),
            "XDBucketForOwnedAttributesstorage": pack({key: inner[name, key] for key in model[name]}),
            "XDPMCompoundIndexes": pack(None),
            "XDBucketForStereotypesstorage": settings({"XD_PSK_isAbstract": name == "Animal",
                "XD_PSK_userInfo": {"origin": "sea"} if name == "Animal" else {},
                "XD_PSK_entityClassName": "AnimalMO" if name == "Animal" else "NSManagedObject",
                "XD_PSK_versionHashModifier": "x" if name == "Fish" else None,
                "XD_PSK_fetchRequestsArray": requests})})
    package = of("XDModelPackage", {"XDBucketForClassesstorage": pack(places), "XDBucketForPackagesstorage": pack({})})
    root = of("XDPMModel", {"_xd_rootPackage": package, "_configurationsByName": pack({}),
        "_modelVersionIdentifier": add("7")})
    archive = {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": root}, "$objects": objects}
    plistlib.dump(archive, open("Old.xcdatamodel/elements", "wb"), fmt=plistlib.FMT_BINARY)
    """#
}
