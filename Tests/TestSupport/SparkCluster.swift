import Foundation

/// Spark on this machine with executors that are processes of their own, as `make test-spark` installs it.
package enum SparkCluster {
  /// A Python interpreter that has pyspark.
  private static let python =
    ProcessInfo.processInfo.environment["SURFJOURNAL_SPARK"] ?? Repository.path(".build/spark/bin/python3")
  package static let isThere = FileManager.default.isExecutableFile(atPath: python)

  /// Two executors. A task that takes longer than the fastest one is started a second time, and a killed one again.
  private static let settings = [
    "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", "spark.task.maxFailures": "1000",
    "spark.speculation": "true", "spark.speculation.multiplier": "1.0", "spark.speculation.quantile": "0.0",
    "spark.speculation.interval": "50ms", "spark.speculation.minTaskRuntime": "1ms",
    "spark.excludeOnFailure.enabled": "false", "spark.deploy.maxExecutorRetries": "-1",
  ]

  /// Starts a program of a Spark driver.
  ///
  /// - Parameter log: A file that gets what the driver says.
  package static func start(_ script: String, _ arguments: [String], log: URL) throws -> ChildProcess {
    let submit = URL(fileURLWithPath: python).deletingLastPathComponent().appendingPathComponent("spark-submit").path
    let options = settings.sorted { $0.key < $1.key }.flatMap { ["--conf", "\($0.key)=\($0.value)"] }
    let process = Programs.process(
      submit, ["--master", "local-cluster[2,1,1024]"] + options + [script] + arguments,
      environment: ["PYSPARK_PYTHON": python])
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let file = try FileHandle(forWritingTo: log)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = file
    process.standardError = file
    try process.start()
    return process
  }
}
