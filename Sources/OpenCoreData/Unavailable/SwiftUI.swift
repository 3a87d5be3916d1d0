import Foundation

// The property wrappers with which views of SwiftUI fetch objects.

/// A fetch of a view.
@available(*, unavailable, message: "SwiftUI is not on Linux. Use NSFetchedResultsController.")
@propertyWrapper
public struct FetchRequest<Result> {
  /// A fetch of everything.
  public init() {}
  /// What is found.
  public var wrappedValue: [Result] { [] }
}

/// What it finds.
@available(*, unavailable, message: "SwiftUI is not on Linux. Use NSFetchedResultsController.")
public struct FetchedResults<Result> {}

/// A fetch of a view in sections.
@available(*, unavailable, message: "SwiftUI is not on Linux. Use NSFetchedResultsController.")
@propertyWrapper
public struct SectionedFetchRequest<SectionIdentifier, Result> {
  /// A fetch of everything.
  public init() {}
  /// What is found.
  public var wrappedValue: [Result] { [] }
}

/// What it finds, in sections.
@available(*, unavailable, message: "SwiftUI is not on Linux. Use NSFetchedResultsController.")
public struct SectionedFetchResults<SectionIdentifier, Result> {}
