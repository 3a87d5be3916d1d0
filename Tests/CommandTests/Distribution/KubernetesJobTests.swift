import Foundation
import TestSupport
import Testing

/// Where `make test-schedulers` installs the program that knows the schemas.
private let validator = Repository.path(".build/peers/bin/kubernetes-validate")

/// The file for Kubernetes is what its API takes: checked against the published schemas of several versions, by an
/// independent program.
@Suite(
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: validator),
    "kubernetes-validate is not installed; 'make test-schedulers' installs it"))
struct KubernetesJobTests {
  private static let job = Repository.path("Distributed/kubernetes/job.yaml")

  /// The first version in which an Indexed Job counts the failures of each index by default, and later ones.
  static let versions = ["1.29", "1.31", "1.33"]

  @Test(arguments: versions) func `The job has the members that the API knows`(version: String) throws {
    let output = try validate(Self.job, version: version)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    #expect("\(output.text)\(output.messages)".contains("passed for resource job/surfjournal-plan"))
  }

  @Test(arguments: versions) func `A wrong member and a wrong value are found`(version: String) throws {
    let text = try String(contentsOfFile: Self.job, encoding: .utf8)
    let folder = try TemporaryFolder()
    for (right, wrong) in [("completionMode:", "completionMod:"), ("parallelism: 16", "parallelism: many")] {
      let path = try folder.write(text.replacingOccurrences(of: right, with: wrong), to: "job.yaml")
      #expect(try validate(path, version: version).status != 0, "\(wrong)")
    }
  }

  @Test func `Its arguments are options of the command`() throws {
    let text = try String(contentsOfFile: Self.job, encoding: .utf8)
    let arguments = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.hasPrefix("- --") }.map { String($0.dropFirst(2)) }
    #expect(arguments.count == 3)
    // The plan does not exist, and nothing has the name of the host: the options are understood.
    let output = try Programs.run(
      Tool.url.path,
      ["work"]
        + arguments.map {
          $0.replacingOccurrences(of: "$(JOB_COMPLETION_INDEX)", with: "0")
            .replacingOccurrences(of: "@db/", with: "@db.invalid/")
        })
    #expect([69, 77].contains(output.status), "\(output.messages)")
  }

  private func validate(_ path: String, version: String) throws -> ProgramOutput {
    try Programs.run(validator, ["--strict", "--kubernetes-version", version, path])
  }
}
