import ManagedObjectModel
import PersistentStores

extension StoreVerification {
  /// Text for people: the verdict, and for each finding the problem, the location and the remedy.
  public func text() -> String {
    var lines = ["\(store): \(verdict)"]
    for finding in findings {
      let keys = finding.keys.map(String.init).joined(separator: ", ")
      let rest = finding.count > finding.keys.count ? ", …" : ""
      let location = finding.keys.isEmpty ? "" : " [\(finding.table.map { "\($0) " } ?? "")\(keys)\(rest)]"
      lines += [
        "", "\(finding.severity.rawValue) \(finding.code)  \(finding.message)\(location)", "  \(finding.advice)",
      ]
    }
    if !notes.isEmpty { lines += [""] + notes.map { "note  \($0)" } }
    return lines.joined(separator: "\n") + "\n"
  }

  private var verdict: String {
    func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
    if findings.isEmpty {
      return "nothing is wrong with its integrity, keys, entity numbers, links, order, uniqueness, values and metadata"
        + (notes.isEmpty ? "" : ", as far as these could be checked")
    }
    let parts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }.map { count($0.0, $0.1) }
    return parts.joined(separator: ", ")
  }
}
