// Generated from the model SurfJournalModel by modelgen; changes made here are lost.
// swift-format-ignore-file

public import OpenCoreData

nonisolated public class JournalEntry: NSManagedObject {
  override public class var lifecycleHooks: LifecycleHooks {
    self == JournalEntry.self ? [] : .all
  }
}
