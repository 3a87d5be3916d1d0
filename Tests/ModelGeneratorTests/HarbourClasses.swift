import OpenCoreData

// The classes that the model Harbour expects to be written by hand.

/// Only its properties are generated ("Category/Extension"); a generated class inherits from it.
public class CarFerry: Ferry {
  override public class var lifecycleHooks: LifecycleHooks { .all }
}

/// Only its properties are generated, and it is visible in its module alone.
class Buoy: NSManagedObject {}

/// Nothing is generated for it ("Manual/None").
class Berth: NSManagedObject {}
