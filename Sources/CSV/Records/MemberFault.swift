/// What is wrong with a member of a record of JSON Lines, or with its syntax.
package struct MemberFault: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The line is not one whole JSON object; the text says what is wrong, as the end of a sentence.
    case syntax(String)
    /// An object has two members of the name.
    case duplicateName
    /// The member's column has a value already, from a member of another name.
    case secondValue
    /// The value of a column is an array or an object.
    case array, object
    /// The columns are members of this member, and it is not an object.
    case notObject
    /// A text has half of a surrogate pair, which is not a character.
    case halfCharacter
    /// The column was taken as missing, because none of the first records has it.
    case lateColumn
    /// No column has the member, and none of the first records has it.
    case extra
    /// The same, and further ones are not reported, because too many are known to remember them.
    case lastExtra
  }

  package var kind: Kind
  /// Index of the record in its block.
  package var record: Int
  /// Offset from the record's first byte.
  package var byte: Int
  /// The dotted name of the member; empty for `syntax`.
  package var label: String
  /// The field that the member would be.
  package var field: Int?
  /// Whether the record can be used nevertheless.
  package var isNoted = false
}

/// What a member of a JSON object is used for.
package struct MemberUse: Sendable, Hashable {
  /// The field that it is.
  package var field: Int?
  /// Whether members of it are fields.
  package var isContainer: Bool
  /// The fields that members of it are, at any depth.
  package var fieldsWithin: [Int]
  /// Whether one of these is the same field, so that the field's value may be an object.
  var containsField: Bool { field.map { fieldsWithin.contains($0) } ?? false }

  package init(field: Int? = nil, isContainer: Bool = false, fieldsWithin: [Int] = []) {
    (self.field, self.isContainer, self.fieldsWithin) = (field, isContainer, fieldsWithin)
  }
}

/// Which members of JSON objects are the fields of records.
package struct MemberSelection: Sendable {
  /// What becomes of a member that has no use and that the first records lack.
  package enum Extra: Sendable { case ignored, noted, refused }

  package let fieldCount: Int
  /// The use of a member by its dotted name. It is asked once for each name.
  package let use: @Sendable (String) -> MemberUse
  package let extra: Extra

  package init(fieldCount: Int, extra: Extra, use: @escaping @Sendable (String) -> MemberUse) {
    (self.fieldCount, self.extra, self.use) = (fieldCount, extra, use)
  }
}

/// The members of the first records of JSON Lines.
package struct MemberSurvey: Sendable, Hashable {
  /// Number of records looked at, without those that are not JSON.
  package var records = 0
  /// The fields that at least one of them has, even if its value is null.
  package var fields: Set<Int> = []
  /// The dotted names without use, in the order of their first appearance.
  package var extraLabels: [String] = []

  package init() {}
}
