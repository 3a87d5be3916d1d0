import Foundation

/// A transformer with the direction in which it is used for storing.
struct TransformableCoder {
  let transformer: ValueTransformer

  /// For attributes that name no transformer: a keyed archive of the plain classes.
  static var unnamed: TransformableCoder {
    TransformableCoder(transformer: NSSecureUnarchiveFromDataTransformer())
  }

  /// An unarchiving transformer makes objects of bytes, so storing goes backwards through it; any other one makes the
  /// bytes. (Apple documentation: NSAttributeDescription, valueTransformerName.)
  private var isReversed: Bool { transformer is NSSecureUnarchiveFromDataTransformer }

  /// The bytes for `object`; nil where the transformer can't make any of it.
  func data(from object: Any) -> Data? {
    let result = isReversed ? transformer.reverseTransformedValue(object) : transformer.transformedValue(object)
    return result as? Data
  }

  func object(from data: Data) -> Any? {
    isReversed ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }
}
