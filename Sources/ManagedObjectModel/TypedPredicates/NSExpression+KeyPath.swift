import Foundation

extension NSExpression {
  /// The value at the end of a Swift key path from the evaluated object. (Apple documentation: init(forKeyPath:).)
  ///
  /// ```swift
  /// let oldest = NSExpression(forFunction: "min:", arguments: [NSExpression(forKeyPath: \JournalEntry.date)])
  /// ```
  ///
  /// Stops the program where the names of the properties can't be found: of a class that has no generated or `@Managed`
  /// properties of these names.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    if keyPath == \Root.self {
      self.init(tree: .selfObject)
    } else if let names = KeyPathNames.names(of: keyPath) {
      self.init(tree: .keyPath(names))
    } else {
      preconditionFailure(
        "The names on the key path \(keyPath.debugDescription) can't be found. Use NSExpression(forKeyPath:) with a text."
      )
    }
  }
}
