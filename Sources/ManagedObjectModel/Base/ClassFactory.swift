import Foundation

/// Lets a convenience initialiser of a Foundation class return an instance of a subclass. Swift allows an assignment to
/// `self` in protocol initialisers only. (Foundation's own class clusters do the same through Objective-C.)
protocol ClassFactory {}

extension ClassFactory {
  init(made instance: Any) {
    guard let instance = instance as? Self else {
      preconditionFailure(
        "\(Self.self) cannot be made from a format or a key: use its superclass, or its designated initialiser."
      )
    }
    self = instance
  }
}

extension NSPredicate: ClassFactory {}
extension NSSortDescriptor: ClassFactory {}
