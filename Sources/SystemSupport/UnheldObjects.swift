import CTryRetain

/// Objects by slot number that are found without being held, for owners that look up millions of them.
///
/// `weak` would do the same. But the first weak reference gives an object a side table of its own, and from then on each
/// retain and release of the object, by any code, goes through that table. (docs/decisions/0031)
///
/// Each object calls `forget(_:at:)` in its `deinit`. That makes it safe to look up an object that another thread
/// releases:
///
/// 1. A slot has the address of an object only from `add` to the `forget` or `free` of that slot. Both change it under
///    the lock.
/// 2. An object is freed after its `deinit`, which waits for the lock. So while a thread has the lock, each address in a
///    slot is one of an object whose memory is still there, perhaps one that is about to run its `deinit`.
/// 3. `swift_tryRetain` distinguishes the two in one atomic step: it adds a reference, or finds that the last one is
/// gone. With the reference the object lives on after the lock.
/// 4. No code of clients runs under the lock: nothing is released there, and nothing is hashed or compared.
/// 5. `forget` compares the address, because the slot may have been freed and given to another object meanwhile. Two
///    objects have one address only if the first is freed, which is after its `forget`.
///
/// An object must have at most one slot in one table: `add` takes away its former one.
///
/// It is not generic, because a generic class of another module would look up its types with each call.
package final class UnheldObjects: Sendable {
  // Unchecked: addresses, which are used as the rules above say.
  private struct Slots: @unchecked Sendable {
    var addresses: [UnsafeRawPointer?] = []
    /// Slots without an owner.
    var free: [Int32] = []

    mutating func clear(_ slot: Int32, of address: UnsafeRawPointer) {
      guard addresses.indices.contains(Int(slot)), addresses[Int(slot)] == address else { return }
      addresses[Int(slot)] = nil
    }
  }

  private let slots = Locked(Slots())

  package init() {}

  private static func address(_ object: AnyObject) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }

  /// Gives the object a slot.
  ///
  /// - Parameter former: Its slot in this table; negative if it has none.
  package func add(_ object: AnyObject, at former: Int32) -> Int32 {
    let address = Self.address(object)
    return slots.withLock { slots in
      slots.clear(former, of: address)
      if let slot = slots.free.popLast() {
        slots.addresses[Int(slot)] = address
        return slot
      }
      slots.addresses.append(address)
      return Int32(slots.addresses.count - 1)
    }
  }

  /// The object that has the slot, if it lives.
  package func object(at slot: Int32) -> AnyObject? {
    let isRetained = slots.withLock { slots -> RetainedAddress? in
      guard let address = slots.addresses[Int(slot)],
        let retained = swift_tryRetain(UnsafeMutableRawPointer(mutating: address))
      else { return nil }
      return RetainedAddress(address: retained)
    }
    return isRetained.map { Unmanaged<AnyObject>.fromOpaque($0.address).takeRetainedValue() }
  }

  /// All objects that live.
  package var objects: [AnyObject] {
    let retained = slots.withLock { slots in
      slots.addresses.compactMap { address in
        address.flatMap { swift_tryRetain(UnsafeMutableRawPointer(mutating: $0)) }.map(RetainedAddress.init)
      }
    }
    return retained.map { Unmanaged<AnyObject>.fromOpaque($0.address).takeRetainedValue() }
  }

  /// Makes room for so many more objects.
  package func reserve(_ count: Int) {
    slots.withLock { slots in
      let needed = slots.addresses.count + max(0, count - slots.free.count)
      if needed > slots.addresses.capacity { slots.addresses.reserveCapacity(max(needed, slots.addresses.count * 2)) }
    }
  }

  // The effect follows from rule 4, and is declared for other modules: an object that goes need not hold the table.

  /// The object has no slot any more. Called in its `deinit`, on any thread.
  @_effects(releasenone)
  package func forget(_ object: AnyObject, at slot: Int32) {
    let address = Self.address(object)
    slots.withLock { $0.clear(slot, of: address) }
  }

  /// Gives slots back that the caller knows no more.
  package func free(_ freed: some Collection<Int32> & Sendable) {
    slots.withLock { slots in
      for slot in freed {
        slots.addresses[Int(slot)] = nil
        slots.free.append(slot)
      }
    }
  }

  package func free(_ slot: Int32) {
    slots.withLock { slots in
      slots.addresses[Int(slot)] = nil
      slots.free.append(slot)
    }
  }

  /// For each slot whether an object has it.
  package var isTaken: [Bool] { slots.withLock { $0.addresses.map { $0 != nil } } }
}

// Unchecked: a reference on its way to the caller.
private struct RetainedAddress: @unchecked Sendable {
  let address: UnsafeMutableRawPointer
}
