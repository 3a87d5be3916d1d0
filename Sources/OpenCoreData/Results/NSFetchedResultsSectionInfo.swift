import Foundation

/// A section of a fetched results controller. (Apple documentation: NSFetchedResultsSectionInfo.)
public protocol NSFetchedResultsSectionInfo {
  var name: String { get }
  /// What stands for the section in an index beside the list.
  var indexTitle: String? { get }
  var numberOfObjects: Int { get }
  /// The objects of the section; made anew each time it is asked for.
  var objects: [Any]? { get }
}

/// A section as it was when somebody asked for it.
struct ResultsSection: NSFetchedResultsSectionInfo {
  let name: String
  fileprivate let rows: ArraySlice<NSObject>
  /// Weak, so that a section that is kept does not keep the controller's content listening.
  fileprivate weak var core: ResultsCore?

  var indexTitle: String? { core?.indexTitle(ofSection: name) }
  var numberOfObjects: Int { rows.count }
  var objects: [Any]? { Array(rows) }
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

  /// The first letter, capital; nil of an empty name. (Apple documentation: sectionIndexTitle(forSectionName:).)
  static func initial(of name: String) -> String? { name.first.map { $0.uppercased() } }

  /// The titles of the sections in order, each once.
  func indexTitles(of list: ResultsList) -> [String] {
    var seen: Set<String> = []
    return list.sections.compactMap { indexTitle(ofSection: $0.name) }.filter { seen.insert($0).inserted }
  }
}
