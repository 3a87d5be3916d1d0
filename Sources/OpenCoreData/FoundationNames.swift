import ManagedObjectModel

// Foundation declares classes of these names that can't be created on this platform. A module that imports both needs
// one alias for each, and writes it as `typealias NSExpression = OpenCoreData.NSExpression`: without these, the name in
// OpenCoreData would be ambiguous too, because OpenCoreData exports Foundation.

/// A value that is computed when it is asked for. See `ManagedObjectModel.NSExpression`.
public typealias NSExpression = ManagedObjectModel.NSExpression

/// A predicate that compares the values of two expressions. See `ManagedObjectModel.NSComparisonPredicate`.
public typealias NSComparisonPredicate = ManagedObjectModel.NSComparisonPredicate
