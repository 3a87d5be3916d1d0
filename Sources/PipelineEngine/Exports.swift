// A program that runs pipelines also needs their definitions: it imports one module, and not two.
@_exported public import PipelineDefinition
