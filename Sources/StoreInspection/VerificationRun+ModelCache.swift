/// The check of the model that a store keeps.
extension VerificationRun {
  /// Programs without the store's model would have to guess names and types from its tables.
  mutating func checkModelCache() throws {
    let cache = try StoreInspection.ModelCache(store)
    guard cache.bytes > 0, !cache.isReadable else { return }
    add(
      "modelCache", table: "Z_MODELCACHE", "The model that the store keeps can't be read.",
      advice: "Restore the store from a copy. Until then, give its model with --model.")
  }
}
