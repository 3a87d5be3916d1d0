import Foundation
import ManagedObjectModel

/// Any bytes give a compiled model, or a reason; as a value of an object, too. A value that was read can be written.
enum ArchiveTarget: FuzzTarget {
  static let name = "archives"
  static let bytesMax = 8192
  static let words = [
    "NSEntityDescription", "NSAttributeDescription", "NSRelationshipDescription", "NSFetchRequest", "NSDefaultValue",
    "NSAttributeType", "NSEntities", "NSProperties", "NSSubentities", "NSSuperentity", "NSValidationPredicates",
    "NSComparisonPredicate", "NSCompoundPredicate", "NSConstantValueExpression", "NSKeyPathExpression", "NS.objects",
    "NS.keys", "$class", "$null", "NSFetchRequestTemplates", "NSMaxCount", "NSUserInfo", "bplist00",
  ]
  static let seeds = ArchiveSeeds.own.map { Array($0) }

  static func run(_ input: inout FuzzInput) {
    let data = Data(input.rest)
    do throws(ArchiveProblem) {
      ModelUse.use(try CompiledModel(archive: data).model)
    } catch {
      if error.description.isEmpty { broken("an unreadable archive has a reason") }
    }
    let transformer = NSSecureUnarchiveFromDataTransformer()
    if let value = transformer.transformedValue(data) {
      let written = transformer.reverseTransformedValue(value)
      if transformer.transformedValue(written) == nil { broken("a value that was read can be written", "\(value)") }
    }
    // A few bytes: Foundation's archiver takes a millisecond for eight kilobytes of data.
    let piece = data.prefix(64)
    let again = transformer.transformedValue(transformer.reverseTransformedValue(piece)) as? Data
    requireEqual(again, piece, rule: "data are read back")
  }
}

/// The same, from compiled models of Apple's framework.
enum AppleArchiveTarget: FuzzTarget {
  static let name = "apple-archives"
  static let bytesMax = ArchiveTarget.bytesMax
  static let words = ArchiveTarget.words
  static let isKept = false
  static let seeds = SharedStores.compiledModels.map { Array($0) }

  static func run(_ input: inout FuzzInput) { ArchiveTarget.run(&input) }
}
