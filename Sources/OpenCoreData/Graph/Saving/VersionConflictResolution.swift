/// How the policies resolve a conflict about an object whose row another context or program changed or deleted.
///
/// Apple's header documents changed rows. For deleted rows, which it does not mention, the word "trump" decides: a
/// policy under which the store wins accepts the store's deletion, and restores what the context wanted to delete; one
/// under which the object wins writes the row again, and deletes.
extension NSMergeConflict {
  func resolve(_ type: NSMergePolicyType) {
    let object = sourceObject
    guard let context = object.managedObjectContext else { return }
    switch (type, persisted) {
    case (.errorMergePolicyType, _): return
    case (.rollbackMergePolicyType, let row?):
      context.takeOver(row, of: object) { _, _, stored in stored }
    case (.rollbackMergePolicyType, nil), (.mergeByPropertyStoreTrumpMergePolicyType, nil):
      context.forgetDeleted(object)
    case (.mergeByPropertyStoreTrumpMergePolicyType, let row?):
      object.takeBackRivalLinks()
      context.takeOver(row, of: object) { own, base, stored in own != base && stored == base ? own : stored }
    case (.mergeByPropertyObjectTrumpMergePolicyType, let row?) where !object.isDeleted:
      context.takeOver(row, of: object) { own, base, stored in own != base ? own : stored }
    case (.overwriteMergePolicyType, let row?) where !object.isDeleted:
      context.takeOver(row, of: object) { own, _, _ in own }
    case (.mergeByPropertyObjectTrumpMergePolicyType, _), (.overwriteMergePolicyType, _):
      // The deletion stands; a missing row is inserted again.
      return
    }
  }
}
