// A program that runs pipelines also needs their definitions; this way it imports one module.
@_exported public import PipelineDefinition
