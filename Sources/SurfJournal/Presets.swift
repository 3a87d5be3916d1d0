import PipelineEngine

/// The pipelines that the command knows by heart. The files of the same names in `Pipelines/` say the same, for
/// those who want to change something.
extension PipelineDefinition {
  private static let columns = ["date", "height", "period", "wind", "location", "rating"]
}
