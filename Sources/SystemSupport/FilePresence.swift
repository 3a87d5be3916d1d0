import Foundation

/// Whether a path leads to a file.
///
/// - Parameter followingLinks: Whether a link that leads nowhere counts as absent.
/// - Throws: The system's error where it can't tell, as on a disk that fails.
package func exists(_ path: String, followingLinks: Bool = true) throws(POSIXError) -> Bool {
  var status = stat()
  if (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 { return true }
  if [ENOENT, ENOTDIR].contains(errno) { return false }
  throw .last
}

/// Whether a path may lead to a file: also where the system can't tell.
///
/// What is then done with the file fails with the system's reason. Taken for absent, the file would be said not to
/// exist, made anew, or left out.
package func mayExist(_ path: String, followingLinks: Bool = true) -> Bool {
  (try? exists(path, followingLinks: followingLinks)) ?? true
}
