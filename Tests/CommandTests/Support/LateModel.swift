import TestSupport

/// Models whose entities lead to one another in circles: authors and books, and what a suite adds.
enum LateModel {
  /// A crew has at least two riders, or none.
  static let crews = """
    <entity name="Crew">
      <attribute name="name" attributeType="String"/>
      <relationship name="riders" optional="YES" toMany="YES" minCount="2" deletionRule="Nullify" destinationEntity="Rider" inverseName="crew" inverseEntity="Rider"/>
    </entity>
    <entity name="Rider">
      <attribute name="name" attributeType="String"/>
      <relationship name="crew" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Crew" inverseName="riders" inverseEntity="Crew"/>
    </entity>
    """

  /// Writes a model in source form.
  ///
  /// - Parameters:
  ///   - name: The name of the `.xcdatamodel`.
  ///   - entities: The XML of the suite's own entities.
  static func write(_ name: String, entities: String, to folder: TemporaryFolder) throws {
    try folder.makeFolder(name)
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Author">
          <attribute name="name" optional="YES" attributeType="String"/>
          <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
          <relationship name="favourite" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Book"/>
        </entity>
        <entity name="Book">
          <attribute name="title" optional="YES" attributeType="String"/>
          <relationship name="author" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
        </entity>
        \(entities)
      </model>
      """, to: "\(name)/contents")
  }
}
