import Dispatch
import Foundation

/// A fetch that reads off the context's queue and delivers its result on it. (Apple documentation:
/// NSAsynchronousFetchRequest.)
///
/// ```swift
/// let request = NSAsynchronousFetchRequest(fetchRequest: JournalEntry.fetchRequest()) {
///   (result: NSAsynchronousFetchResult<JournalEntry>) in
///   print(result.finalResult?.count ?? 0)
/// }
/// let pending = try context.execute(request) as? NSPersistentStoreAsynchronousResult
/// pending?.cancel()  // ends the read
/// ```
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, ContextRequest {
  /// Receives the result on the queue of the context.
  public typealias CompletionBlock = (NSAsynchronousFetchResult<ResultType>) -> Void

  /// The fetch that is carried out.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called on the context's queue when the fetch has finished, failed or was cancelled.
  public let completionBlock: CompletionBlock?
  /// The expected number of results, which is the total of the progress; 0 if unknown.
  open var estimatedResultCount = 0

  /// A request that `NSManagedObjectContext.execute(_:)` starts. (Apple documentation:
  /// init(fetchRequest:completionBlock:).)
  ///
  /// - Parameters:
  ///   - request: What is fetched.
  ///   - completionBlock: Called once on the context's queue, also after an error or a cancellation; nil for none.
  public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock: CompletionBlock?) {
    fetchRequest = request
    self.completionBlock = completionBlock
  }

  /// Returns before anything is read.
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    context.processPendingChanges()
    // A copy, because the caller may change the request.
    let request = fetchRequest.retyped(as: ResultType.self)
    let fetch = try AsynchronousFetch(request, in: context)
    let result = NSAsynchronousFetchResult(self, context, stop: fetch.stop)
    let confined = QueueConfined(value: (result: result, request: request, completion: completionBlock))
    DispatchQueue.global().async {
      let outcome = Result {
        try fetch.read { count in
          context.queue.async { confined.value.result.progress?.completedUnitCount = Int64(count) }
        }
      }
      context.perform {
        let (result, request, completion) = confined.value
        if result.progress?.isCancelled == true { fetch.stop.cancel() }
        result.fulfill(Result { try fetch.results(of: request, try outcome.get(), in: context) })
        completion?(result)
      }
    }
    return result
  }
}

/// A value that belongs to a context's queue and is carried past other threads back to it.
// Unchecked: the value is made on the queue, and read only there.
private struct QueueConfined<Value>: @unchecked Sendable {
  let value: Value
}

/// A result that arrives later. (Apple documentation: NSPersistentStoreAsynchronousResult.) It belongs to the queue of
/// its context.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that has executed the request.
  public let managedObjectContext: NSManagedObjectContext
  /// The reason why there is no result: the error of the read, or `NSUserCancelledError` (3072) after a cancellation.
  public fileprivate(set) var operationError: (any Error)?
  /// Counts results; its total is -1 while that is unknown. Cancelling it ends the read. It changes on the context's
  /// queue, and is a child of the progress that was current when the request was executed.
  public let progress: Progress?
  private let stop: CancellationFlag

  init(_ context: NSManagedObjectContext, estimatedCount: Int, _ stop: CancellationFlag) {
    managedObjectContext = context
    let progress = Progress(totalUnitCount: estimatedCount > 0 ? Int64(estimatedCount) : -1)
    progress.isCancellable = true
    progress.cancellationHandler = { stop.cancel() }
    self.progress = progress
    self.stop = stop
  }

  /// Ends the read, even in the middle of a search; the completion block is then called with an error.
  open func cancel() {
    // The progress calls its cancellation handler only later.
    stop.cancel()
    progress?.cancel()
  }
}

/// The result of an asynchronous fetch. (Apple documentation: NSAsynchronousFetchResult.)
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
  /// The request of which this is the result.
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// Nil until the completion block is called, and after an error.
  public private(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, stop: CancellationFlag) {
    fetchRequest = request
    super.init(context, estimatedCount: request.estimatedResultCount, stop)
  }

  func fulfill(_ outcome: Result<[ResultType], any Error>) {
    switch outcome {
    case .failure(let error): operationError = error
    case .success(let results):
      finalResult = results
      progress?.totalUnitCount = Int64(results.count)
      progress?.completedUnitCount = Int64(results.count)
    }
  }
}

/// Receives the result of an asynchronous fetch of any type.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
  (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void
