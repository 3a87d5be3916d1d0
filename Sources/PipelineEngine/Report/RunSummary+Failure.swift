extension RunFailure {
  var summary: RunSummary.Failure { RunSummary.Failure(code: code, message: message, exitCode: exitCode) }
}
