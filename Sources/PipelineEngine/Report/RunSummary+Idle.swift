extension RunSummary {
  /// Whether the run ended well and found nothing to do: no input, or only such as were imported before, or nothing new to
  /// export.
  var hadNothingToDo: Bool {
    guard outcome == .completed, failure == nil, issues.counts.isEmpty, counts.read == 0 else { return false }
    if kind == .export { return outputs.isEmpty }
    return inputs.allSatisfy { $0.state == .known && $0.records == 0 }
  }
}
