import Foundation

/// A store with changed bytes, metadata or model cache is opened, inspected, verified and read, or refused with a
/// reason; none of it changes the file.
enum StoreTarget: FuzzTarget {
  static let name = "stores"
  static let bytesMax = 128
  static let seeds = ChangedStore.seeds(OwnStores.all.count)

  static func run(_ input: inout FuzzInput) { ChangedStore.run(OwnStores.all, &input) }
}

/// The same with stores of Apple's framework.
enum AppleStoreTarget: FuzzTarget {
  static let name = "apple-stores"
  static let bytesMax = 128
  static let isKept = false
  static let seeds = ChangedStore.seeds(SharedStores.stores.count)

  static func run(_ input: inout FuzzInput) { ChangedStore.run(SharedStores.stores, &input) }
}
