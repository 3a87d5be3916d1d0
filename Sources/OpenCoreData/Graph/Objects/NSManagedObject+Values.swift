import Foundation

/// Keyed and typed access to attributes.
extension NSManagedObject {
  // MARK: Generated accessors

  /// The value of an optional attribute as the type of its generated property; nil if nothing is stored.
  public final func attributeValue<Value: ManagedAttributeValue>(forKey key: String) -> Value? {
    Value.fromStored(StoredAttributeValue(storedValue(at: slot(key))))
  }

  /// As the generic one: a fast path for the most common types.
  public final func attributeValue(forKey key: String) -> String? {
    firePackedFault()
    if let (cell, arena) = directStorage?.cellAndArena(key, row: Int(row)) { return ObjectBatch.text(cell, in: arena) }
    return String.fromStored(StoredAttributeValue(storedValue(at: slot(key))))
  }

  /// The value of a date attribute; nil if it has none. Generated accessors call it.
  public final func attributeValue(forKey key: String) -> Date? {
    firePackedFault()
    if let cell = directStorage?.cell(key, row: Int(row)), case .real = cell.kind {
      return Date(timeIntervalSinceReferenceDate: cell.real)
    }
    return Date.fromStored(StoredAttributeValue(storedValue(at: slot(key))))
  }

  /// Sets an attribute, with the notifications that `setValue(_:forKey:)` sends. Generated accessors call it.
  ///
  /// - Parameters:
  ///   - value: The new value; nil for none.
  ///   - key: The name of the attribute. Stops the program if the entity does not have it.
  public final func setAttributeValue<Value: ManagedAttributeValue>(_ value: Value?, forKey key: String) {
    setStoredValue(value?.storedAttributeValue.value ?? .null, at: slot(key))
  }

  /// As the generic one: a fast path for the most common types.
  public final func setAttributeValue(_ value: String?, forKey key: String) {
    setStoredValue(value.map(StoredValue.text) ?? .null, at: slot(key))
  }

  /// Sets a date attribute; nil for no date. Generated accessors call it.
  public final func setAttributeValue(_ value: Date?, forKey key: String) {
    setStoredValue(value.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null, at: slot(key))
  }

  /// The value of a numeric attribute whose property is not a scalar.
  public final func numberValue(forKey key: String) -> NSNumber? {
    firePackedFault()
    // The common kind first: through `Any` the value would be made, boxed and cast.
    if let cell = directStorage?.integerCell(key, row: Int(row)), case .integer = cell.kind {
      return SmallNumbers.number(cell.integer)
    }
    let slot = slot(key)
    return entity.attributeSlots[slot].foundationValue(from: storedValue(at: slot)) as? NSNumber
  }

  /// Sets a numeric attribute whose property is not a scalar, as `setValue(_:forKey:)` does. Generated accessors call it.
  ///
  /// - Parameters:
  ///   - value: The new value; nil for none.
  ///   - key: The name of the attribute. Stops the program if the entity does not have it, or if the attribute can't keep
  ///     the number.
  public final func setNumberValue(_ value: NSNumber?, forKey key: String) {
    let slot = slot(key)
    guard let value, entity.layout.isInteger(slot), !(value is NSDecimalNumber) else {
      return setStoredValue(stored(value, slot), at: slot)
    }
    let integer = value.int64Value
    // Beyond that a double is not exact, and the general way finds out whether the number is an integer.
    guard integer.magnitude < 1 << 53, Double(integer) == value.doubleValue else {
      return setStoredValue(stored(value, slot), at: slot)
    }
    setStoredValue(.integer(integer), at: slot)
  }

  /// The value of an attribute whose property is a scalar; 0 or false if nothing is stored.
  public final func scalarValue<Value: ManagedAttributeValue & ExpressibleByIntegerLiteral>(
    forKey key: String
  ) -> Value { attributeValue(forKey: key) ?? 0 }
  /// The value of a Boolean attribute as a scalar: false if it has none.
  public final func scalarValue(forKey key: String) -> Bool { attributeValue(forKey: key) ?? false }
  /// Sets an attribute whose property is a scalar.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - key: The name of the attribute. Stops the program if the entity does not have it.
  public final func setScalarValue<Value: ManagedAttributeValue>(_ value: Value, forKey key: String) {
    setAttributeValue(value, forKey: key)
  }
}

extension NSManagedObject {
  /// `value` in the stored form of `slot`; a value of another type stops the program.
  func stored(_ value: Any?, _ slot: Int) -> StoredValue {
    let attribute = entity.attributeSlots[slot]
    guard let stored = attribute.encodedValue(from: value) else {
      preconditionFailure(
        "Unacceptable type of value for attribute: property = \"\(attribute.name)\"; desired type = "
          + "\(attribute.attributeValueClassName ?? "\(attribute.attributeType)"); given type = "
          + "\(value.map { "\(type(of: $0))" } ?? "nil"); value = \(value.map { "\($0)" } ?? "nil")."
          + (attribute.attributeType == .transformableAttributeType
            ? " Name a transformer, or in attributeValueClassName a class that conforms to NSSecureCoding." : ""))
    }
    return stored
  }
}

/// Values by slot.
extension NSManagedObject {
  func slot(_ key: String) -> Int {
    // The caller's mistake: the message names the key.
    guard let slot = knownSlot(key) else { preconditionFailure(undefined(key)) }
    return slot
  }

  func knownSlot(_ key: String) -> Int? {
    entity.slot(named: key) ?? (entity as? KeyRecordingEntity)?.slot(asked: key)
  }

  func storedValue(at slot: Int) -> StoredValue {
    if WatchedReads.isOn { watchRead(slot) }
    if state.contains(.fault) { fireFaultToRead() }
    return currentValue(at: slot)
  }

  private func watchRead(_ slot: Int) {
    checkQueue(slot: slot)
    watchRead(entity.attributeSlots[slot].name)
  }

  func setStoredValue(_ value: StoredValue, at slot: Int) {
    checkQueue(slot: slot)
    if state.contains(.fresh), setPackedValue(value, at: slot) { return }
    setOwnValues(at: CollectionOfOne(slot)) { _ in value }
  }

  /// Sets a value of a fresh object in its row: the object gets no values of its own, and keeps none for the event in
  /// which it was inserted, because these were the defaults.
  ///
  /// - Returns: False if more has to be done. Nothing was done then.
  private func setPackedValue(_ value: StoredValue, at slot: Int) -> Bool {
    guard loaded == nil, !state.contains(.awaking), !isUnregistered, auxiliaryIfPresent?.observation == nil,
      let storage = batchStorage, let context = storage.context, context.graph.undo == nil,
      context.graph.noteChange(ofUnannounced: self)
    else { return false }
    guard storage.batch.replaceInPlace(value, row: Int(row), slot: slot) else { return false }
    becomeWritten()
    return true
  }

  /// Copies packed values of another object, which is not a fault, into the row of a fresh one.
  ///
  /// - Parameter slots: The slots of this object, each with that of the other one.
  /// - Returns: False if more has to be done. Nothing was done then.
  func copyPackedValues(_ slots: [(slot: Int, source: Int)], of source: NSManagedObject) -> Bool {
    checkQueue()
    guard state.contains(.fresh), loaded == nil, !state.contains(.awaking), !isUnregistered,
      auxiliaryIfPresent?.observation == nil, let from = source.directStorage, let storage = batchStorage,
      let context = storage.context, context.graph.undo == nil, context.graph.noteChange(ofUnannounced: self)
    else { return false }
    guard storage.batch.copyInPlace(slots, from: Int(source.row), of: from.batch, to: Int(row)) else { return false }
    becomeWritten()
    return true
  }

  /// Sets several values and records one change for all of them.
  func setStoredValues(at slots: some Collection<Int>, _ value: (_ slot: Int) -> StoredValue) {
    guard let first = slots.first else { return }
    checkQueue(slot: first)
    if state.contains(.fresh) { return slots.forEach { setStoredValue(value($0), at: $0) } }
    setOwnValues(at: slots, value)
  }

  private func setOwnValues(at slots: some Collection<Int>, _ value: (_ slot: Int) -> StoredValue) {
    if state.contains(.fault) { fireFault() }
    if state.contains(.awaking) {
      for slot in slots { setAwaking(value(slot), at: slot) }
      return
    }
    let context = managedObjectContext
    rememberValues(context)
    let observation = auxiliaryIfPresent?.observation
    if let observation { for slot in slots { observation.willChange(entity.attributeSlots[slot].name, of: self) } }
    replaceValues(at: slots, value)
    if let observation { for slot in slots { observation.didChange(entity.attributeSlots[slot].name, of: self) } }
    context?.noteChange(of: self)
  }

  func setStoredValue(from value: Any?, at slot: Int) {
    let stored = stored(value, slot)
    setStoredValue(stored, at: slot)
    keepObject(value, of: stored, slot)
  }

  /// Loads the values. An object whose row is gone is marked deleted and all its values read as nil.
  func fireFault() {
    guard let context = managedObjectContext else {
      preconditionFailure(
        "\(objectID) is a fault without a context, so its values can't be loaded: the context is gone, or was "
          + "reset. Keep it while its objects are in use.")
    }
    context.fulfillFault(self)
  }

  /// Loads the values of a fault whose row is packed, so that they can be read there.
  @inline(__always)
  func firePackedFault() {
    guard state.contains(.fault), loaded == nil, !isUnregistered, !WatchedReads.isOn else { return }
    if storage?.packedFaults.needNoContext == true { completeFault() } else { fireFault() }
  }

  /// As `fireFault()`, except that an object whose context was reset reads as nil.
  func fireFaultToRead() { if !isUnregistered || !hasValues { fireFault() } }

  /// What `description` shows; does not load a fault.
  var valuesText: String {
    let pairs = entity.attributeSlots.indices.map { slot -> String in
      let attribute = entity.attributeSlots[slot]
      let value = isFault ? nil : attribute.foundationValue(from: values[slot])
      return "\(attribute.name) = " + (value.map { "\($0)" } ?? "nil")
    }
    let content = isFault ? "<fault>" : pairs.joined(separator: "; ")
    return "<\(type(of: self))> (entity: \(entity.name ?? ""); id: \(objectID); data: \(content))"
  }
}
