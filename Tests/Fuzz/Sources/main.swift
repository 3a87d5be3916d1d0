// Runs one target under libFuzzer, or writes what all of them start from.
//
//   fuzz list                        the names of the targets
//   fuzz kept                        the names of those whose inputs may be kept in the repository
//   fuzz prepare FOLDER              writes seeds and dictionaries
//   fuzz TARGET [options of libFuzzer] [folders of inputs]
import Foundation

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "list": print(Targets.all.map { $0.name }.joined(separator: "\n"))
case "kept": print(Targets.all.filter { $0.isKept }.map { $0.name }.joined(separator: "\n"))
case "prepare" where arguments.count == 2:
  try Targets.prepare(URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true))
case let name?:
  guard let target = Targets.withCanary.first(where: { $0.name == name }) else {
    FileHandle.standardError.write(Data("There is no target '\(name)'; see 'fuzz list'.\n".utf8))
    exit(64)
  }
  exit(Targets.run(target, Array(arguments.dropFirst())))
case nil:
  let usage = "usage: fuzz list | kept | prepare FOLDER | TARGET [options of libFuzzer]\n"
  FileHandle.standardError.write(Data(usage.utf8))
  exit(64)
}
