import Foundation

/// A transformer with the direction in which storing uses it.
struct TransformableCoder {
  let transformer: ValueTransformer

  /// For attributes that do not name a transformer: a keyed archive of the plain classes.
  static var unnamed: TransformableCoder {
    TransformableCoder(transformer: NSSecureUnarchiveFromDataTransformer())
  }

  /// An unarchiving transformer converts bytes to objects, so storing uses its reverse direction; any other transformer
  /// converts objects to bytes. (Apple documentation: NSAttributeDescription, valueTransformerName.)
  private var isReversed: Bool { transformer is NSSecureUnarchiveFromDataTransformer }

  /// The bytes for `object`; nil if the transformer can't convert it.
  func data(from object: Any) -> Data? {
    let result = isReversed ? transformer.reverseTransformedValue(object) : transformer.transformedValue(object)
    return result as? Data
  }

  func object(from data: Data) -> Any? {
    isReversed ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }
}
