// Clients write `import OpenCoreData` alone, as they write `import CoreData`.
@_exported public import ManagedObjectModel
@_exported public import PersistentStores
