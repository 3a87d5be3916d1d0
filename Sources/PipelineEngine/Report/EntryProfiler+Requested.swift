import OpenCoreData

extension EntryProfiler {
  /// Nil where no report will show the profile, because counting costs time. Mistakes in `charts` are reported in any
  /// case.
  static func requested(
    _ definition: PipelineDefinition, options: RunOptions, entity: NSEntityDescription
  ) throws(PipelineError) -> EntryProfiler? {
    let profiler = try EntryProfiler(definition, entity: entity)
    return options.profilesEntries || !ReportFiles.paths(definition, options).isEmpty ? profiler : nil
  }
}
