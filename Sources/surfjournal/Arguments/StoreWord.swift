import PipelineEngine

/// Where a command's store is named. Every command takes it in both ways: by `--store`, and as an operand.
enum StoreWord {
  /// The command has no store, or its operands are files.
  case none
  /// `--store PATH`, or else the first operand.
  case option
  /// The same, but a first operand that is the ID of an entry is an entry.
  case optionBeforeIDs
  /// The operand at this position, or `--store PATH` in its place.
  case operand(Int)
}

extension Arguments {
  /// The same with the store where the command looks for it.
  func naming(_ word: StoreWord) -> Arguments {
    switch word {
    case .none: return self
    case .option, .optionBeforeIDs:
      guard !isGiven("store"), let first = operands.first else { return self }
      if case .optionBeforeIDs = word, Self.isID(first) { return self }
      return replacing(operands: Array(operands.dropFirst()), adding: ["store": [first]])
    case .operand(let index):
      guard let store = string("store"), operands.count >= index else { return self }
      var operands = operands
      operands.insert(store, at: index)
      return replacing(operands: operands, adding: [:])
    }
  }

  /// - Throws: A mistake for the address of a server, without the address, which may have a password.
  func refuseAddresses() throws(CommandFailure) {
    let stores = operands + (isDeclared("store") ? strings("store") : [])
    guard stores.contains(where: StoreAddress.isAddress) else { return }
    throw mistake(
      "this command works on files; 'copy' makes a file of a store in PostgreSQL")
  }

  /// - Throws: A mistake for the address of a server in an option that names a file: messages would show it, with its
  ///   password.
  func refuseAddressesOfFiles() throws(CommandFailure) {
    for option in Self.fileOptions where isDeclared(option) && strings(option).contains(where: StoreAddress.isAddress) {
      let advice =
        option == "output" ? "'copy' writes a store on a server, and --store names one" : "--store names a store"
      throw mistake("--\(option) has the address of a server, and names a file; \(advice)")
    }
  }

  /// - Throws: A mistake for a store that a person may mean to be on a server, and that would be a file.
  func refuseOtherAddresses() throws(CommandFailure) {
    let stores = operands + (isDeclared("store") ? strings("store") : [])
    guard let store = stores.first(where: StoreLocation.resemblesAddress) else { return }
    let form = StoreAddress.form(for: store)
    throw mistake("the store looks like the address of a server, and no file has that name; write it as \(form)")
  }

  private static let fileOptions = [
    "output", "report", "log", "rejects", "input", "from", "to", "results", "pipeline", "model",
  ]

  /// - Throws: The same for operands.
  func requireFiles(_ operands: [String]) throws(CommandFailure) {
    guard operands.contains(where: StoreAddress.isAddress) else { return }
    throw mistake("the address of a server is given where a file is expected; --store names a store")
  }

  /// A number as `list` shows it, or a URI of Core Data.
  private static func isID(_ text: String) -> Bool {
    text.hasPrefix("x-coredata:") || !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
  }
}
