import Foundation

/// The content of a fetched results controller at one time: objects in order, and their sections.
struct ResultsList {
  struct Section {
    let name: String
    /// Indices in `objects`.
    let rows: Range<Int>
  }

  private(set) var objects: [NSObject] = []
  private(set) var sections: [Section] = []

  /// A list without sections: one section without a name has all objects.
  init(_ objects: [NSObject]) {
    self.objects = objects
    sections = [Section(name: "", rows: objects.indices)]
  }

  /// - Parameters:
  ///   - objects: In order.
  ///   - counts: Names of sections, each once, with the number of objects in each.
  init(_ objects: [NSObject], sections counts: [(name: String, count: Int)]) {
    self.objects = objects
    var start = 0
    sections = counts.map { section in
      defer { start += section.count }
      return Section(name: section.name, rows: start..<(start + section.count))
    }
  }

  /// The section of each object, in order.
  var sectionNumbers: [Int] {
    var result: [Int] = []
    result.reserveCapacity(objects.count)
    for (number, section) in sections.enumerated() { result += repeatElement(number, count: section.rows.count) }
    return result
  }

  /// Where the object at `rank` among all is found.
  func indexPath(ofRank rank: Int) -> IndexPath {
    // The last section that begins at or before the rank; empty ones contain no rank.
    var (low, high) = (0, sections.count)
    while low < high {
      let middle = (low + high) / 2
      if sections[middle].rows.lowerBound <= rank { low = middle + 1 } else { high = middle }
    }
    return IndexPath(item: rank - sections[low - 1].rows.lowerBound, section: low - 1)
  }

  func object(at path: IndexPath) -> NSObject? {
    guard path.count == 2, sections.indices.contains(path.section) else { return nil }
    let rows = sections[path.section].rows
    guard path.item >= 0, path.item < rows.count else { return nil }
    return objects[rows.lowerBound + path.item]
  }
}

/// Consecutive objects of one section, counted while a sorted result is read.
struct SectionCounts {
  private(set) var sections: [(name: String, count: Int)] = []
  private var seen: Set<String> = []
  private var count = 0

  /// - Throws: `NSError` 134060 if the section had already ended: the objects are not sorted by section.
  mutating func append(_ name: String) throws {
    if let last = sections.last, last.name == name {
      sections[sections.count - 1].count += 1
    } else if seen.insert(name).inserted {
      sections.append((name, 1))
    } else {
      throw NSError.coreData(
        .coreData,
        "The fetched object at index \(count) has an out of order section name '\(name)'. Objects must be sorted by "
          + "section name: give the request a first sort descriptor that keeps the objects of a section together.")
    }
    count += 1
  }
}
