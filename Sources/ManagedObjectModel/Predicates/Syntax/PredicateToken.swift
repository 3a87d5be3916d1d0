/// A piece of a format string.
struct PredicateToken: Equatable {
  enum Kind: Equatable {
    /// A key or a keyword.
    case word(String)
    /// `#word`: a key, whatever it spells.
    case escapedWord(String)
    case text(String)
    case number(PredicateConstant)
    /// `$NAME`.
    case variable(String)
    case argument(Argument)
    /// An operator or a punctuation mark.
    case symbol(String)
    case end
  }

  /// What a conversion such as `%@` takes from the argument list.
  enum Argument: Equatable {
    case object, keyPath, integer, real
  }

  let kind: Kind
  /// Of its first character, counted from 1.
  let position: Int
  /// As it stands in the format string.
  let source: String

  var described: String {
    kind == .end ? "the end of the text" : "'\(source)'"
  }
}
