import Foundation

/// The content of a fetched results controller by identifiers: names of sections, and IDs of objects. (Apple
/// documentation: NSDiffableDataSourceSnapshotReference.)
///
/// Apple's class of this name belongs to UIKit and AppKit; this one has its reading members.
///
/// ```swift
/// for section in snapshot.sectionIdentifiers {
///   print(section, snapshot.numberOfItems(inSection: section))
/// }
/// let ids = snapshot.itemIdentifiers as? [NSManagedObjectID] ?? []
/// ```
public final class NSDiffableDataSourceSnapshotReference: NSObject, Sendable {
  private let names: [String]
  private let ids: [[NSManagedObjectID]]
  private let reloadedIDs: [NSManagedObjectID]

  init(names: [String], ids: [[NSManagedObjectID]], reloadedIDs: [NSManagedObjectID]) {
    self.names = names
    self.ids = ids
    self.reloadedIDs = reloadedIDs
  }

  /// The number of sections.
  public var numberOfSections: Int { names.count }
  /// The number of objects in all sections.
  public var numberOfItems: Int { ids.reduce(0) { $0 + $1.count } }
  /// The names of the sections: `String`s.
  public var sectionIdentifiers: [Any] { names }
  /// `NSManagedObjectID`s in order. An object that was never saved has its temporary ID; a context finds the object by
  /// that ID after a save too.
  public var itemIdentifiers: [Any] { Array(ids.joined()) }
  /// The IDs of objects that have changed since the previous snapshot.
  public var reloadedItemIdentifiers: [Any] { reloadedIDs }

  /// The number of objects in the section with this name. Stops the program if there is no such section.
  public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
    ids[section(sectionIdentifier)].count
  }

  /// The IDs of the objects in the section with this name, in order. Stops the program if there is no such section.
  public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
    ids[section(sectionIdentifier)]
  }

  /// The section of an item; nil if the item is not in the snapshot.
  public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
    guard let id = itemIdentifier as? NSManagedObjectID else { return nil }
    return ids.firstIndex { $0.contains(id) }.map { names[$0] }
  }

  /// The index of an item among all items, or `NSNotFound`.
  public func index(ofItemIdentifier itemIdentifier: Any) -> Int {
    guard let id = itemIdentifier as? NSManagedObjectID else { return NSNotFound }
    return ids.joined().enumerated().first { $0.element == id }?.offset ?? NSNotFound
  }

  /// The index of a section, or `NSNotFound`.
  public func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
    (sectionIdentifier as? String).flatMap { names.firstIndex(of: $0) } ?? NSNotFound
  }

  private func section(_ identifier: Any) -> Int {
    let index = index(ofSectionIdentifier: identifier)
    precondition(index != NSNotFound, "No section has the identifier \(identifier).")
    return index
  }
}
