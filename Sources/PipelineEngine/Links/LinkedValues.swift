import OpenCoreData
import PersistentStores

/// What the records of a chunk say about the objects of one relationship.
struct LinkedValues: Sendable {
  /// Index of the link in the pipeline.
  let link: Int
  /// The values of the named objects: one for each row of a to-one relationship, or any number.
  var batch: ObjectBatch
  /// For a to-many relationship the number of objects before each row's, and their number at the end.
  var starts: [Int32]?
  /// Digests of what identifies the objects; `none` for no object.
  private(set) var digests: [KeyDigest] = []
  /// For each compared slot of the link the digests of the objects' values; `none` for no value.
  private(set) var compared: [[KeyDigest]] = []

  init(_ link: Int, _ entity: NSEntityDescription, isToMany: Bool) {
    self.link = link
    batch = ObjectBatch(entity: entity)
    starts = isToMany ? [0] : nil
  }

  /// The rows of `batch` that belong to a row of the chunk.
  func elements(ofRow row: Int) -> Range<Int> {
    guard let starts else { return row..<(row + 1) }
    return Int(starts[row])..<Int(starts[row + 1])
  }

  /// Called when the batch is complete.
  mutating func digest(_ link: EntityLink) {
    digests = link.digester(of: link.entity).digests(of: batch).keys
    compared = link.comparedSlots.map { slot in
      var digester = RowDigester()
      digester.keySlots = [slot]
      return digester.digests(of: batch).keys
    }
  }

  /// Called when the objects of a row are complete.
  mutating func endRow() { starts?.append(Int32(batch.count)) }

  mutating func removeLastRow() {
    guard let ends = starts else { return batch.removeLastRow() }
    for _ in 0..<(ends[ends.count - 1] - ends[ends.count - 2]) { batch.removeLastRow() }
    starts?.removeLast()
  }

  /// A number that differs if a row leads to other objects.
  func digest(ofRow row: Int, isOrdered: Bool) -> UInt64 {
    var digest: UInt64 = 0
    for element in elements(ofRow: row) {
      let low = digests[element].low
      digest = isOrdered ? digest &* 0x9E37_79B9_7F4A_7C15 &+ low : digest &+ low
      for values in compared { digest = digest &* 0x9E37_79B9_7F4A_7C15 &+ values[element].low }
    }
    return digest
  }
}
