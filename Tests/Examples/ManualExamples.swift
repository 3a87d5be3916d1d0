#if canImport(CoreData)
  import CoreData
#else
  import OpenCoreData
#endif

/// What the manual's tutorial for apps imports, which compiles here and on Apple's systems.
private enum ManualExamples {
  static func container() -> NSPersistentContainer { NSPersistentContainer(name: "Surfing") }
}
