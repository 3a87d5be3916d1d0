import Dispatch
import Foundation

/// A fetch that reads beside the context's queue and delivers there. (Apple documentation:
/// NSAsynchronousFetchRequest.)
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest, ContextRequest {
  public typealias CompletionBlock = (NSAsynchronousFetchResult<ResultType>) -> Void

  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called on the context's queue when the result is there, or the fetch failed or was cancelled.
  public let completionBlock: CompletionBlock?
  /// How many results to expect: what the progress counts up to. 0: not known.
  open var estimatedResultCount = 0

  public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock: CompletionBlock?) {
    fetchRequest = request
    self.completionBlock = completionBlock
  }

  /// Returns before anything is read.
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    context.processPendingChanges()
    // A copy: the caller may go on with the request.
    let request = fetchRequest.retyped(as: ResultType.self)
    let fetch = try AsynchronousFetch(request, in: context)
    let result = NSAsynchronousFetchResult(self, context, fetch.stop)
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
        result.settle(Result { try fetch.results(of: request, try outcome.get(), in: context) })
        completion?(result)
      }
    }
    return result
  }
}

/// What belongs to a context's queue and has to be carried past other threads back to it.
// Unchecked: it is made on the queue, and `value` is read there only.
private struct QueueConfined<Value>: @unchecked Sendable {
  let value: Value
}

/// What comes later. (Apple documentation: NSPersistentStoreAsynchronousResult.) It belongs to the queue of its
/// context.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  public let managedObjectContext: NSManagedObjectContext
  /// Why there is no result: what reading said, or `NSUserCancelledError` (3072) after a cancel.
  public fileprivate(set) var operationError: (any Error)?
  /// Counts results; its total is -1 while that is not known. Cancelling it ends the reading. It moves on the
  /// context's queue, and is a part of the progress that was current when the request was executed.
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

  /// Ends the reading, also in the middle of a search; the completion block is called with an error then.
  open func cancel() {
    // The progress calls its handler some time later only.
    stop.cancel()
    progress?.cancel()
  }
}

/// What an asynchronous fetch found. (Apple documentation: NSAsynchronousFetchResult.)
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult {
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// Nil until the completion block is called, and after an error.
  public private(set) var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, _ stop: CancellationFlag) {
    fetchRequest = request
    super.init(context, estimatedCount: request.estimatedResultCount, stop)
  }

  func settle(_ outcome: Result<[ResultType], any Error>) {
    switch outcome {
    case .failure(let error): operationError = error
    case .success(let results):
      finalResult = results
      progress?.totalUnitCount = Int64(results.count)
      progress?.completedUnitCount = Int64(results.count)
    }
  }
}
