/// How many records a run may reject before it stops. Without bounds it does not stop.
public struct ErrorBudget: Sendable, Hashable, Codable {
  /// Most rejected records, of all inputs of the run together.
  public var errors: Int?
  /// Largest percentage of rejected records, checked when a chunk is complete and again at the end.
  public var percent: Double?

  /// Makes a budget. The parameters are the properties of the same names.
  public init(errors: Int? = nil, percent: Double? = nil) {
    self.errors = errors
    self.percent = percent
  }

  static let unlimited = ErrorBudget()

  static let keys = ["errors", "percent"]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ErrorBudget {
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return .unlimited }
    let budget = ErrorBudget(errors: reader.integer("errors", in: 0...Int.max), percent: reader.number("percent"))
    if let percent = budget.percent, !(0...100).contains(percent) {
      reader.note("percent", "expected 0 to 100, found \(QuantityPattern.plain(percent))")
    }
    if reader.value("errors") == nil, reader.value("percent") == nil {
      mistakes.add(path, "has neither 'errors' nor 'percent'; give one of them, or both, or leave the budget out")
    }
    return budget
  }

  /// A description of how `rejected` of `read` records exceed the budget; nil if they don't.
  package func excess(rejected: Int, read: Int) -> String? {
    if let errors, rejected > errors {
      return errors == 0
        ? "a record was rejected, and the pipeline tolerates none"
        : "\(rejected.grouped) records were rejected, and the pipeline tolerates \(errors.grouped)"
    }
    if let percent, read > 0, Double(rejected) * 100 > percent * Double(read) {
      return "\(rejected.grouped) of \(read.grouped) records were rejected, more than the "
        + "\(QuantityPattern.plain(percent)) % that "
        + "the pipeline tolerates"
    }
    return nil
  }
}

extension PipelineDefinition {
  /// The effective budget: the policy to stop at an error is a budget of 0.
  package var budget: ErrorBudget { errorPolicy == .stop ? ErrorBudget(errors: 0) : errorBudget ?? .unlimited }
}
