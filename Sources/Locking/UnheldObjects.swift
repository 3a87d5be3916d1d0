import CTryRetain

/// Objects by place that are found without being held, for owners that look up millions of them.
///
/// `weak` would do the same. But the first weak reference gives an object a side table of its own, and from then on each
/// retain and release of the object, by any code, goes through that table. (docs/decisions/0031)
///
/// Each object calls `forget(_:at:)` in its `deinit`. That makes it safe to look up an object that another thread
/// releases:
///
/// 1. A place has the address of an object only from `add` to the `forget` or `free` of that place. Both change it under
///    the lock.
/// 2. An object is freed after its `deinit`, which waits for the lock. So while a thread has the lock, each address in a
///    place is one of an object whose memory is still there, perhaps one that is about to run its `deinit`.
/// 3. `swift_tryRetain` distinguishes the two in one atomic step: it adds a reference, or finds that the last one is
/// gone. With the reference the object lives on after the lock.
/// 4. No code of clients runs under the lock: nothing is released there, and nothing is hashed or compared.
/// 5. `forget` compares the address, because the place may have been freed and given to another object meanwhile. Two
///    objects have one address only if the first is freed, which is after its `forget`.
///
/// An object must have at most one place in one table: `add` takes away its former one.
///
/// It is not generic, because a generic class of another module would look up its types with each call.
package final class UnheldObjects: Sendable {
  // Unchecked: addresses, which are used as the rules above say.
  private struct Places: @unchecked Sendable {
    var addresses: [UnsafeRawPointer?] = []
    /// Places without an owner.
    var free: [Int32] = []

    mutating func clear(_ place: Int32, of address: UnsafeRawPointer) {
      guard addresses.indices.contains(Int(place)), addresses[Int(place)] == address else { return }
      addresses[Int(place)] = nil
    }
  }

  private let places = Locked(Places())

  package init() {}

  private static func address(_ object: AnyObject) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }

  /// Gives the object a place.
  ///
  /// - Parameter former: Its place in this table; negative if it has none.
  package func add(_ object: AnyObject, at former: Int32) -> Int32 {
    let address = Self.address(object)
    return places.withLock { places in
      places.clear(former, of: address)
      if let place = places.free.popLast() {
        places.addresses[Int(place)] = address
        return place
      }
      places.addresses.append(address)
      return Int32(places.addresses.count - 1)
    }
  }

  /// The object that has the place, if it lives.
  package func object(at place: Int32) -> AnyObject? {
    let isRetained = places.withLock { places -> RetainedAddress? in
      guard let address = places.addresses[Int(place)],
        let retained = swift_tryRetain(UnsafeMutableRawPointer(mutating: address))
      else { return nil }
      return RetainedAddress(address: retained)
    }
    return isRetained.map { Unmanaged<AnyObject>.fromOpaque($0.address).takeRetainedValue() }
  }

  /// The object has no place any more. Called in its `deinit`, on any thread.
  package func forget(_ object: AnyObject, at place: Int32) {
    let address = Self.address(object)
    places.withLock { $0.clear(place, of: address) }
  }

  /// Gives places back that the caller knows no more.
  package func free(_ freed: some Collection<Int32> & Sendable) {
    places.withLock { places in
      for place in freed {
        places.addresses[Int(place)] = nil
        places.free.append(place)
      }
    }
  }

  package func free(_ place: Int32) {
    places.withLock { places in
      places.addresses[Int(place)] = nil
      places.free.append(place)
    }
  }

  /// For each place whether an object has it.
  package var isTaken: [Bool] { places.withLock { $0.addresses.map { $0 != nil } } }
}

// Unchecked: a reference on its way to the caller.
private struct RetainedAddress: @unchecked Sendable {
  let address: UnsafeMutableRawPointer
}
