/// One registered operation.
struct UndoOperation {
  /// Who it was registered with; the object is not kept alive.
  let target: ObjectIdentifier
  let perform: () -> Void

  init(_ target: AnyObject, _ perform: @escaping () -> Void) {
    self.target = ObjectIdentifier(target)
    self.perform = perform
  }
}

/// Operations and groups in the order of their registration.
final class UndoGroup {
  private enum Member {
    case operation(UndoOperation)
    case group(UndoGroup)
  }

  private var members: [Member] = []
  var name = ""
  var isDiscardable = false

  var isEmpty: Bool { members.isEmpty }

  func add(_ operation: UndoOperation) { members.append(.operation(operation)) }
  func add(_ group: UndoGroup) { members.append(.group(group)) }

  /// Performs all operations, the last one first.
  func perform() {
    for member in members.reversed() {
      switch member {
      case .operation(let operation): operation.perform()
      case .group(let group): group.perform()
      }
    }
  }

  /// Removes and returns the last member if it is a group.
  func removeLastGroup() -> UndoGroup? {
    guard case .group(let group)? = members.last else { return nil }
    members.removeLast()
    return group
  }

  func removeAll() { members = [] }

  func removeAll(of target: ObjectIdentifier) {
    members = members.filter { member in
      switch member {
      case .operation(let operation): return operation.target != target
      case .group(let group):
        group.removeAll(of: target)
        return !group.isEmpty
      }
    }
  }
}
