import Foundation

/// An index in a list with sections. On Apple's systems UIKit and AppKit give IndexPath these names.
extension IndexPath {
  /// The index path of an item: `[section, item]`, both counted from 0.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
  /// The index path of a row: `[section, row]`, both counted from 0.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

  /// The first of the two indexes.
  public var section: Int {
    get { self[0] }
    set { self[0] = newValue }
  }

  /// The index within the section.
  public var item: Int {
    get { self[1] }
    set { self[1] = newValue }
  }

  /// The index within the section, as table views name it.
  public var row: Int {
    get { item }
    set { item = newValue }
  }
}
