import Foundation

/// How the objects of a transformable become bytes and objects again.
enum TransformableCoder {
  /// By the transformer that the attribute names.
  case transformer(ValueTransformer)
  /// The attribute names none: a keyed archive of the plain classes and, if there is one, the class that the attribute
  /// names for its values.
  case archive(valueClass: AnyClass?)

  /// The bytes for `object`; nil if it can't be converted, or not back.
  ///
  /// An unarchiving transformer converts bytes to objects, so storing uses its reverse direction; any other transformer
  /// converts objects to bytes. (Apple documentation: NSAttributeDescription, valueTransformerName.)
  func data(from object: Any) -> Data? {
    switch self {
    case .transformer(let transformer):
      let isReversed = transformer is NSSecureUnarchiveFromDataTransformer
      return (isReversed ? transformer.reverseTransformedValue(object) : transformer.transformedValue(object)) as? Data
    case .archive:
      guard let data = NSSecureUnarchiveFromDataTransformer.archive(of: object),
        let archive = try? KeyedArchive(data), UnarchivingCheck.passes(archive, as: allowedClasses)
      else { return nil }
      return data
    }
  }

  func object(from data: Data) -> Any? {
    switch self {
    case .transformer(let transformer):
      let isReversed = transformer is NSSecureUnarchiveFromDataTransformer
      return isReversed ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    case .archive: return NSSecureUnarchiveFromDataTransformer.object(in: data, allowing: allowedClasses)
    }
  }

  private var allowedClasses: [AnyClass] {
    let plain = NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses
    guard case .archive(let valueClass?) = self, valueClass is any NSSecureCoding.Type else { return plain }
    return plain + [valueClass]
  }
}
