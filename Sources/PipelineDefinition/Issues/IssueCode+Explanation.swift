extension IssueCode {
  /// The meaning of the code and a remedy, in one or two sentences that need no further documentation; nil for a code
  /// that this version does not know.
  public var explanation: String? { Self.explanations[self] }

  private static let explanations: [IssueCode: String] = [
    .typeError: "The text can't be read as the type of its column, such as a word where a number belongs.",
    .constraintError: "The value can be read, but breaks a rule that the pipeline has for its column.",
    .uniqueError: "The value must be unique in its column, and another record or a stored entry has it.",
    .rowConstraint: "Each value is fine by itself, but together they break a rule that the pipeline has for records.",
    .missingCell: "The record has fewer fields than the header. A line break or a delimiter may have been lost.",
    .extraCell: "The record has more fields than the header. A text with a comma may lack quotes.",
    .blankRow: "The line, or every field of it, is empty. Remove it.",
    .primaryKey: "The key of the record already exists, so importing it would duplicate an entry.",
    .encodingError: "The bytes are not UTF-8. Save the file in that encoding.",
    .unterminatedQuote: "A quote is opened and never closed. Reading continued with the line after it.",
    .strayQuote: "A quote is where none is allowed. Put the whole field in quotes, and double the quotes in it.",
    .mixedLineEnd: "The line end is not that of the first record. The file may be put together from several.",
    .jsonError:
      "A line of JSON Lines is not one JSON object, or a text of it is not Unicode. Write each object in one line.",
    .duplicateMember: "Two members of a record of JSON Lines have the same name, or feed the same column. Remove one.",
    .nulByte: "A field holds a NUL byte. The file may be damaged, or in another encoding such as UTF-16.",
    .fieldTooLong: "A field, or what a transform makes of it, is longer than the pipeline's limit fieldBytesMax.",
    .recordTooLong: "A record is longer than the pipeline's limit recordBytesMax.",
    .modelError: "The data model's own validation refused the entry.",
    .storeConstraint: "A constraint of the store refused the entry.",
    .missingObject:
      "The store does not have the related object that the record names. Import it first, or let the link create it.",
    .ambiguousObject:
      "Several objects of the store are what the record names. Correct the store, or name the object by more "
      + "attributes.",
    .differentObject:
      "The related object has another value than the record says. Correct one of the two, or let the link keep it.",
    .takenObject:
      "Another entry leads to the related object, which can belong to one only. Correct one of the two.",
    .unwritableValue:
      "The dialect of the output can't represent a value, so the entry was left out. Choose another dialect.",
    .missingExternal:
      "The file of a value next to the store is missing, so the value was left out. Bring the store's hidden folder.",
    .blankHeader: "The line of the header is empty.",
    .missingLabel: "The header lacks a column that the pipeline has. It is refused if the column is required.",
    .extraLabel:
      "The header names a column that the pipeline does not know. It is ignored, or refused if the pipeline is strict.",
    .blankLabel: "A label of the header is empty. Its column is ignored.",
    .duplicateLabel: "Two labels of the header name the same column.",
    .headerChanged:
      "The header has lost or gained a column since the last input of the pipeline. Check what writes the file.",
    .dateOrder:
      "The dates of a column can't be read with certainty: day and month may be in the other order. Declare the "
      + "format.",
    .expectationError:
      "The records together are not what the pipeline expects: too many or too few, or unusual values in a column.",
    .incompleteWAL:
      "The store's write-ahead log lacks changes, as after a power failure. If there was none, restore the store "
      + "from a copy.",
    .hashCount: "The content does not match the checksum file next to it: it was changed or damaged since.",
    .rowCount: "The number of records differs from the checksum file. The dialect may differ from the writer's.",
    .inputRefused: "Part of this file may be imported already, so it was refused to avoid duplicates.",
    .sourceError: "The input can't be opened or read.",
    .compressionError: "The compressed data are damaged or cut short. Fetch the file again.",
    .formatError: "The input is not text. Save or export it as CSV.",
    .dialectError: "The input does not follow the dialect that the pipeline declares.",
    .pipelineError: "The definition of the pipeline is wrong.",
  ]
}
