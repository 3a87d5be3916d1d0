/// Makes a property of a hand-written class the property of the same name in the model, in the place of Apple's
/// `@NSManaged`, which the compiler supports on Apple's systems only.
///
/// ```swift
/// final class Session: NSManagedObject {
///   @Managed var place: String
///   @Managed var rating: Int16
///   @Managed private(set) var tags: Set<Tag>
///   @Managed var board: Board?
/// }
/// ```
///
/// The property's type is what the model's property gives: an optional is nil where nothing is stored; a number, a
/// Boolean, a text or a collection that is not optional is then 0, false or empty. Enumerations with a raw value are
/// stored as this value.
@attached(accessor, names: named(get), named(set))
public macro Managed() = #externalMacro(module: "OpenCoreDataMacroPlugin", type: "ManagedMacro")

/// Gives the methods that Xcode declares for a to-many relationship their bodies, in the place of `@NSManaged`.
///
/// ```swift
/// extension Board {
///   @ManagedMethod func addToSessions(_ value: Session)
///   @ManagedMethod func removeFromSessions(_ values: NSSet)
/// }
/// ```
///
/// In the same way `insertIntoSessions(_:at:)`, `removeFromSessions(at:)` and `replaceSessions(at:with:)` of an ordered
/// relationship, with one object and an index, or with objects and indexes. The relationship of `addToSessions(_:)` is
/// `sessions`.
@attached(body)
public macro ManagedMethod() = #externalMacro(module: "OpenCoreDataMacroPlugin", type: "ManagedMethodMacro")
