import Foundation
import ManagedObjectModel

/// Any bytes give a compiled model, or a reason; as a value of an object, too.
enum ArchiveTarget: FuzzTarget {
  static let name = "archives"
  static let bytesMax = 8192
  static let words = [
    "NSEntityDescription", "NSAttributeDescription", "NSRelationshipDescription", "NSFetchRequest", "NSDefaultValue",
    "NSAttributeType", "NSEntities", "NSProperties", "NSSubentities", "NSSuperentity", "NSValidationPredicates",
    "NSComparisonPredicate", "NSCompoundPredicate", "NSConstantValueExpression", "NSKeyPathExpression", "NS.objects",
    "NS.keys", "$class", "$null", "NSFetchRequestTemplates", "NSMaxCount", "NSUserInfo", "bplist00",
  ]
  static let seeds: [[UInt8]] = ArchiveSeeds.all.map { Array($0) }

  static func run(_ input: inout FuzzInput) {
    let data = Data(input.rest)
    do throws(ArchiveProblem) {
      ModelUse.use(try CompiledModel(archive: data).model)
    } catch {
      if error.description.isEmpty { broken("an unreadable archive has a reason") }
    }
    _ = NSSecureUnarchiveFromDataTransformer().transformedValue(data)
    _ = NSSecureUnarchiveFromDataTransformer().reverseTransformedValue(data)
  }
}
