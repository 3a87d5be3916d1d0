import Foundation
import TestSupport
import Testing

/// Models and entities other than the journal's, named on the command line or in a pipeline.
@Suite struct ForeignModelTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("models/Garage.xcdatamodel")
    try folder.write(Self.model, to: "models/Garage.xcdatamodel/contents")
    try folder.write(
      "plate,Wheels,photo,extra\nA 1,4,aGVsbG8=,x\nB 2,3,,\n,4,,\nC 3,four,,\n", to: "cars.csv")
  }

  /// An abstract entity with two concrete ones, one of which needs an owner.
  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Vehicle" isAbstract="YES">
        <attribute name="plate" attributeType="String"/>
        <attribute name="wheels" optional="YES" attributeType="Integer 16"/>
      </entity>
      <entity name="Car" parentEntity="Vehicle">
        <attribute name="photo" optional="YES" attributeType="Binary"/>
        <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="cars" inverseEntity="Person"/>
      </entity>
      <entity name="Taxi" parentEntity="Vehicle">
        <relationship name="driver" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="taxis" inverseEntity="Person"/>
        <relationship name="owner" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="owned" inverseEntity="Person"/>
      </entity>
      <entity name="Person">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="cars" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Car" inverseName="owner" inverseEntity="Car"/>
        <relationship name="owned" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Taxi" inverseName="owner" inverseEntity="Taxi"/>
        <relationship name="taxis" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Taxi" inverseName="driver" inverseEntity="Taxi"/>
      </entity>
    </model>
    """

  private static let garage = ["--model", "models/Garage.xcdatamodel", "--store", "garage"]

  private func run(_ arguments: [String]) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  @Test func `Columns go to attributes by their names, the model's rules hold, and the rest is reported`() throws {
    let output = try run(["import", "cars.csv", "--entity", "Car", "--json"] + Self.garage)
    #expect(output.status == 65, "\(output.messages)")
    let summary = try output.json()
    #expect(summary.counts.inserted == 2 && summary.counts.rejected == 2)
    #expect(summary.issues.counts == ["model-error": 1, "type-error": 1, "extra-label": 1])
    let rows = "SELECT Z_PK, Z_ENT, ZPLATE, ZWHEELS, hex(ZPHOTO) FROM ZVEHICLE"
    #expect(try Programs.sqlite("garage", rows, in: folder) == "1|3|A 1|4|68656C6C6F\n2|3|B 2|3|\n")
    #expect(try run(["validate", "cars.csv", "--entity", "Car", "--again"] + Self.garage).status == 65)
  }

  @Test func `A store that is not there, and an attribute that is not, are named with what there is`() throws {
    let missing = try run(["export", "--store", "none.sqlite", "--entity", "Car"])
    #expect(missing.status == 66 && missing.messages.contains("does not exist"), "\(missing.messages)")
    _ = try run(["import", "cars.csv", "--entity", "Car"] + Self.garage)
    let column = try run(["export", "--entity", "Car", "--columns", "owner.nam"] + Self.garage)
    #expect(column.status == 64 && column.messages.contains("Person has no attribute 'nam'"), "\(column.messages)")
    #expect(column.messages.contains("it has 'name'"), "\(column.messages)")
  }

  @Test func `Rejects are corrected and replayed without a word about entity and model`() throws {
    _ = try run(["import", "cars.csv", "--entity", "Car", "--rejects", "bad.csv"] + Self.garage)
    let mended = try folder.text("bad.csv").replacing("four", with: "4").replacing("\n,4", with: "\nD 4,4")
    try folder.write(mended, to: "bad.csv")
    try folder.makeFolder("elsewhere")
    let output = try Tool.shell("cd elsewhere && $surfjournal replay ../bad.csv", in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    #expect(try Programs.sqlite("garage", "SELECT count(*) FROM ZVEHICLE", in: folder) == "4\n")
  }

  @Test func `An abstract entity is exported with its subentities, and not imported`() throws {
    _ = try run(["import", "cars.csv", "--entity", "Car"] + Self.garage)
    try folder.write("plate\nT 1\n", to: "taxis.csv")
    let taxis = try run(["import", "taxis.csv", "--entity", "Taxi", "--without-relationships"] + Self.garage)
    #expect(taxis.status == 0, "\(taxis.text)\(taxis.messages)")
    let output = try run(["export", "--entity", "Vehicle", "-q"] + Self.garage)
    #expect(output.text == "plate,wheels\nA 1,4\nB 2,3\nT 1,\n")
    let sorted = try run(
      ["export", "--entity", "Vehicle", "--sort", "plate:desc", "--columns", "plate", "-q"] + Self.garage)
    #expect(sorted.text == "plate\nT 1\nB 2\nA 1\n")
    let refused = try run(["import", "taxis.csv", "--entity", "Vehicle"] + Self.garage)
    #expect(refused.status == 64)
    #expect(refused.messages.contains("'Vehicle' is abstract") && refused.messages.contains("'Car', 'Taxi'"))
  }

  @Test func `No object of an abstract entity is added, and those of its subentities are edited by its name`() throws {
    let price = #"<attribute name="price" optional="YES" attributeType="Decimal"/>"#
    try folder.makeFolder("models/Priced.xcdatamodel")
    try folder.write(
      Self.model.replacing(#"<attribute name="wheels""#, with: price + #"<attribute name="wheels""#),
      to: "models/Priced.xcdatamodel/contents")
    let priced = ["--model", "models/Priced.xcdatamodel", "--store", "priced"]
    _ = try run(["import", "cars.csv", "--entity", "Car"] + priced)
    let added = try run(["add", "--entity", "Vehicle", "--set", "plate=X", "--set", "price=1", "--yes"] + priced)
    #expect(added.status == 64, "\(added.messages)")
    #expect(added.messages.contains("'Vehicle' is abstract") && added.messages.contains("'Car', 'Taxi'"))
    // A decimal is packed as a batch keeps it.
    let edited = try run(["edit", "1", "--entity", "Vehicle", "--set", "price=12.50", "--yes"] + priced)
    #expect(edited.status == 0, "\(edited.messages)")
    #expect(try Programs.sqlite("priced", "SELECT Z_PK, ZPRICE FROM ZVEHICLE", in: folder) == "1|12.5\n2|\n")
  }

  @Test func `An entity that needs relationships is refused at once, with all of them and the way out`() throws {
    try folder.write("plate\nT 1\nT 2\n", to: "taxis.csv")
    let output = try run(["import", "taxis.csv", "--entity", "Taxi"] + Self.garage)
    #expect(output.status == 64 && !folder.exists("garage"))
    #expect(output.messages.contains("relationships 'driver' to a Person and 'owner' to a Person"))
    #expect(output.messages.split(separator: "\n").count == 2)
    try folder.write(
      #"{"name": "taxis", "model": "models/Garage.xcdatamodel", "entity": "Taxi", "columns": ["plate"]}"#, to: "p.json")
    let check = try run(["check", "p.json"])
    #expect(check.status == 78 && check.messages.contains(#"p.json:1:"#) || check.text.contains("p.json:1:"))
    try folder.write(
      #"{"extends": "p.json", "relationships": "ignore"}"#, to: "q.json")
    #expect(try run(["check", "q.json"]).status == 0)
    #expect(try run(["run", "q.json", "--input", "taxis.csv", "--store", "garage"]).status == 0)
  }

  @Test func `A pipeline names its model from its own folder, also where another one inherits it`() throws {
    try folder.makeFolder("models/more")
    try folder.write(
      #"{"name": "cars", "model": "Garage.xcdatamodel", "entity": "Car", "columns": ["plate", "wheels"], "store": "../garage"}"#,
      to: "models/cars.json")
    try folder.write(#"{"extends": "../cars.json", "name": "more", "key": ["plate"]}"#, to: "models/more/more.json")
    let output = try run(["import", "cars.csv", "--pipeline", "models/more/more.json"])
    #expect(output.status == 65, "\(output.messages)")
    #expect(try Programs.sqlite("garage", "SELECT count(*) FROM ZVEHICLE", in: folder) == "2\n")
    #expect(try run(["check", "models/more/more.json"]).status == 0)
    let other = try run(["check", "models/more/more.json", "--model", "SurfJournalModel"])
    #expect(other.status == 78 && (other.text + other.messages).contains("the model has no entity 'Car'"))
  }

  @Test(arguments: [
    (["--entity", "Cart"], 64, "the model has no entity 'Cart'; it has Car, Person, Taxi, Vehicle"),
    (["--entity", "Cart"], 64, "did you mean 'Car'?"),
    ([], 78, "the model has no entity 'JournalEntry'"),
    (["--entity", "Car", "--columns", "plate,colour"], 64, "Car has no attribute 'colour'"),
    (["--entity", "Person", "--columns", "cars.owner.name"], 64, "'cars' of Person leads to many objects"),
    (["--entity", "Person", "--columns", "cars.colour"], 64, "Car has no attribute 'colour'"),
    (["--entity", "Car", "--columns", "owner"], 64, "'owner' of Car is a relationship; name an attribute behind it"),
    (["--entity", "Car", "--columns", "plate.x"], 64, "'plate' of Car is an attribute, and nothing lies beyond it"),
    (["--entity", "Car", "--columns", "ownr.name"], 64, "did you mean 'owner'?"),
    (["--entity", "Car", "--null", "a,b"], 64, "--null is 'a,b'"),
    (["--entity", "Car", "--model", "none.xcdatamodel"], 66, "none.xcdatamodel does not exist"),
    (["--entity", "Car", "--model", "Garage"], 64, "no model 'Garage' is part of this program"),
    (["--entity", "JournalEntry", "--model", "SurfJournalModel"], 65, "model"),
  ])
  func `What does not match is reported with the choices`(_ options: [String], status: Int32, message: String) throws {
    _ = try run(["import", "cars.csv", "--entity", "Car"] + Self.garage)
    let output = try run(["export"] + Self.garage + options)
    #expect(output.status == status, "\(output.messages)")
    #expect(output.messages.contains(message), "\(output.messages)")
    #expect(output.text.isEmpty)
  }

  @Test func `The tables of a store without a model are exported, with what is unknown, and nothing is imported`()
    throws
  {
    _ = try run(["import", "cars.csv", "--entity", "Car"] + Self.garage)
    let unasked = try run(["export", "--entity", "Car", "--store", "garage", "-q"])
    #expect(unasked.status == 65 && unasked.text.isEmpty)
    #expect(unasked.messages.contains("keeps no model") && unasked.messages.contains("--guess-model"))
    // A model that can't be read is the same case, and wrong in itself.
    _ = try Programs.sqlite("garage", "INSERT INTO Z_MODELCACHE VALUES (x'1234')", in: folder)
    let damaged = try run(["export", "--entity", "Car", "--store", "garage", "-q"])
    #expect(damaged.status == 65 && damaged.messages.contains("can't be used"), "\(damaged.messages)")
    let verified = try run(["verify", "garage", "--model", "models/Garage.xcdatamodel"])
    #expect(verified.status == 65 && verified.text.contains("error modelCache"), "\(verified.text)")
    let output = try run(["export", "--entity", "Car", "--store", "garage", "--guess-model"])
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("A 1") && output.text.contains("B 2"))
    #expect(output.messages.contains("Car: export clean") && !output.messages.hasPrefix("Car:"))
    let refused = try run(["import", "cars.csv", "--entity", "Car", "--store", "garage", "--again"])
    #expect(refused.status == 65)
    #expect(refused.messages.contains("Name its model with --model"))
  }

  @Test func `Empty texts and no value are distinguished where both sides name the text for it`() throws {
    try folder.write("plate,wheels\n,1\nA,\\N\n", to: "empty.csv")
    #expect(try run(["import", "empty.csv", "--entity", "Car", "--null", "\\N"] + Self.garage).status == 0)
    let output = try run(["export", "--entity", "Vehicle", "--null", "\\N", "-q"] + Self.garage)
    #expect(output.text == "plate,wheels\n,1\nA,\\N\n")
  }

  @Test func `The same input is known by its content, wherever the model's file lies`() throws {
    _ = try run(["import", "cars.csv", "--entity", "Car"] + Self.garage)
    try FileManager.default.moveItem(at: folder.file("models"), to: folder.file("moved"))
    let again = try run(
      ["import", "cars.csv", "--entity", "Car", "--store", "garage", "--model", "moved/Garage.xcdatamodel", "--json"])
    #expect(try again.json().counts.inserted == 0, "\(again.text)")
  }
}
