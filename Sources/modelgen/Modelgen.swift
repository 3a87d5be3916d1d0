import Foundation

/// `modelgen MODEL MODULE OUTPUT-FOLDER`: writes the Swift code of a model, for the build tool plugin.
@main
enum Modelgen {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count == 3 else {
      fail("usage: modelgen MODEL.xcdatamodeld MODULE OUTPUT-FOLDER", status: EX_USAGE)
    }
    do {
      try generate(
        model: URL(filePath: arguments[0]), moduleName: arguments[1], into: URL(filePath: arguments[2]))
    } catch let error as ModelError {
      fail("error: \(arguments[0]): \(error)", status: EX_DATAERR)
    } catch {
      // The reader's errors contain the file and the line.
      fail("error: \(error.localizedDescription)", status: EX_DATAERR)
    }
  }

  private static func generate(model: URL, moduleName: String, into folder: URL) throws {
    let files = try CodeGenerator(bundle: ModelBundle(at: model), moduleName: moduleName).files()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for file in files {
      try Data(file.text.utf8).write(to: folder.appending(path: file.name), options: .atomic)
    }
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
  }
}
