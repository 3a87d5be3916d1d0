import TestSupport

/// A model with relationships of each delete rule, inheritance, and a photo that may lie outside.
enum SurfModel {
  static let name = "Surf.xcdatamodel"

  /// What commands on a store `s.sqlite` of the model need.
  static let options = ["--store", "s.sqlite", "--model", name]

  private static let xml = """
    <model>
      <entity name="Spot">
        <attribute name="code" optional="YES" attributeType="UUID"/>
        <attribute name="name" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Session"
          inverseName="spot" inverseEntity="Session"/>
      </entity>
      <entity name="Reef" parentEntity="Spot">
        <attribute name="depth" optional="YES" attributeType="Double"/>
      </entity>
      <entity name="Session">
        <attribute name="alone" optional="YES" attributeType="Boolean"/>
        <attribute name="date" optional="YES" attributeType="Date"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16" defaultValueString="3"/>
        <relationship name="spot" optional="YES" maxCount="1" destinationEntity="Spot" inverseName="sessions"
          inverseEntity="Spot"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="sessions"
          inverseEntity="Tag"/>
      </entity>
      <entity name="Tag">
        <attribute name="label" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Session"
          inverseName="tags" inverseEntity="Session"/>
      </entity>
    </model>
    """

  static func write(to folder: TemporaryFolder) throws {
    try folder.makeFolder(name)
    try folder.write(xml, to: "\(name)/contents")
  }
}
