import Foundation

/// A section of a fetched results controller. (Apple documentation: NSFetchedResultsSectionInfo.)
public protocol NSFetchedResultsSectionInfo {
  /// The name of the section: the value at the controller's `sectionNameKeyPath`, as text.
  var name: String { get }
  /// The title of the section in the index next to the list.
  var indexTitle: String? { get }
  /// The number of objects in the section.
  var numberOfObjects: Int { get }
  /// The objects of the section; a new array for each call.
  var objects: [Any]? { get }
}

/// A section at the time of the call.
struct ResultsSection: NSFetchedResultsSectionInfo {
  let name: String
  fileprivate var rows: ArraySlice<NSObject>
  /// Weak, so that a section that a client keeps does not keep the controller's content observing.
  fileprivate weak var core: ResultsCore?

  var indexTitle: String? { core?.indexTitle(ofSection: name) }
  var numberOfObjects: Int { rows.count }
  var objects: [Any]? { Array(rows) }

  /// The section once it is deleted: it has no objects.
  var emptied: ResultsSection {
    var section = self
    section.rows = []
    return section
  }
}

extension ResultsCore {
  func sectionInfo(_ index: Int, of list: ResultsList) -> ResultsSection {
    let section = list.sections[index]
    return ResultsSection(name: section.name, rows: list.objects[section.rows], core: self)
  }

  func sectionInfos(of list: ResultsList) -> [ResultsSection] {
    list.sections.indices.map { sectionInfo($0, of: list) }
  }

  // MARK: Index titles

  func indexTitle(ofSection name: String) -> String? {
    guard let owner else { return titleByDelegate(ofSection: name) }
    return owner.sectionIndexTitle(forSectionName: name)
  }

  func titleByDelegate(ofSection name: String) -> String? {
    guard let delegate, let controller = owner?.erased else { return Self.initial(of: name) }
    return delegate.controller(controller, sectionIndexTitleForSectionName: name)
  }

  /// The first letter in upper case; nil for an empty name. (Apple documentation: sectionIndexTitle(forSectionName:).)
  static func initial(of name: String) -> String? { name.first.map { $0.uppercased() } }

  /// The titles of the sections in order, each once.
  func indexTitles(of list: ResultsList) -> [String] {
    var seen: Set<String> = []
    return list.sections.compactMap { indexTitle(ofSection: $0.name) }.filter { seen.insert($0).inserted }
  }
}
