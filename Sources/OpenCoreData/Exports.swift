// Clients write only `import OpenCoreData`, as they write `import CoreData` on Apple's systems.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import ManagedObjectModel
@_exported public import PersistentStores
@_exported public import PostgreSQLStore
