/// A piece of a format string.
struct PredicateToken: Equatable {
  enum Kind: Equatable {
    /// A key or a keyword.
    case word(String)
    /// `#word`: always a key, even if the word is reserved.
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

  /// The kind of argument that a conversion such as `%@` takes.
  enum Argument: Equatable {
    case object, keyPath, integer, real
  }

  let kind: Kind
  /// The position of its first character, counted from 1.
  let position: Int
  /// The token as spelled in the format string.
  let source: String

  var described: String {
    kind == .end ? "the end of the text" : "'\(source)'"
  }
}
