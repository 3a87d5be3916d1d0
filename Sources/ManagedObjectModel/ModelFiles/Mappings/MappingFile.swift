import Foundation

/// One entity mapping of a mapping model file.
package struct FileEntityMapping {
  package let name: String
  /// The number of an `NSEntityMappingType`, 0 to 5.
  package let type: Int
  package let source: FileEntity?
  package let destination: FileEntity?
  package let sourceExpression: NSExpression?
  package let policyClassName: String?
  package let attributes: [FilePropertyMapping]
  package let relationships: [FilePropertyMapping]
  package let userInfo: [String: Any]?
}

/// An entity that a mapping model file names, in the version that the file is for.
package struct FileEntity {
  package let name: String
  package let versionHash: Data?
}

/// One property mapping of a mapping model file.
package struct FilePropertyMapping {
  package let name: String
  package let expression: NSExpression?
  package let userInfo: [String: Any]?
}

/// Finds and reads mapping models on disk: Xcode's sources (`.xcmappingmodel`) and compiled ones (`.cdm`).
/// (docs/coredata-format.md, "Mapping models".)
package enum MappingFile {
  /// The entity mappings in their order.
  ///
  /// - Parameter url: A `.cdm`, an `.xcmappingmodel` folder or the `xcmapping.xml` in one.
  /// - Throws: `NSError` 260 for a missing file, 259 for one that can't be read completely.
  package static func load(_ url: URL) throws -> [FileEntityMapping] {
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory)
    guard exists else {
      throw ModelFileError.missing(
        url, "No mapping model was found here.", advice: "Check the path; it should end in .xcmappingmodel or .cdm.")
    }
    let file = isDirectory.boolValue ? url.appendingPathComponent("xcmapping.xml") : url
    let data = try ModelPackage.contents(of: file, "The mapping model can't be read.")
    do {
      return file.pathExtension == "cdm" || BinaryPropertyListReader.isOne(data)
        ? try CompiledMappingReader.read(data) : try MappingSourceReader.read(data, file: file)
    } catch let problem as ArchiveProblem {
      throw ModelFileError(
        file: file, line: nil, problem: "This is not a compiled mapping model that can be read: \(problem).",
        advice: "Give the .xcmappingmodel that it was compiled from, or make the mapping model in code."
      ).nsError
    } catch let error as ModelFileError {
      throw error.nsError
    }
  }

  /// The mapping models among the resources of `bundles`, each once: compiled ones take precedence over their sources.
  package static func resources(of bundles: [Bundle]) -> [URL] {
    ModelFile.resources(of: bundles, kinds: ["cdm", "xcmappingmodel"])
  }
}

extension KeyedArchive {
  /// A dictionary of the client's own values; nil for none.
  ///
  /// - Throws: The key of a value that is not a text, a number, a date or the like.
  func userInfo(_ value: ArchiveValue?) throws(ArchiveProblem) -> [String: Any]? {
    guard resolved(value) != .null else { return nil }
    guard let entries = entries(value) else { throw ArchiveProblem("its user info is not a dictionary of texts") }
    var result: [String: Any] = [:]
    for (key, value) in entries {
      guard let known = foundationValue(value) else {
        throw ArchiveProblem("the value of '\(key)' in its user info is not one of Foundation's plain ones")
      }
      result[key] = known
    }
    return result.isEmpty ? nil : result
  }

  /// An archived expression; nil for none.
  ///
  /// - Throws: `subject`, for one of a form that is not known.
  func mappingExpression(_ value: ArchiveValue?, of subject: String) throws(ArchiveProblem) -> NSExpression? {
    guard resolved(value) != .null else { return nil }
    guard let text = ArchivedPredicateReader(archive: self).expression(value)?.formatText,
      let expression = try? NSExpression.parse(format: text)
    else { throw ArchiveProblem("the expression of \(subject) has a form that is not known") }
    return expression
  }
}
