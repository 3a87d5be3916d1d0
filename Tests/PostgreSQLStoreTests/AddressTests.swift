import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PostgreSQLStore

// Rule (docs/decisions/0039): no password is in a message, a description or an address that is shown.

@Suite("An address is shown without its passwords")
struct AddressTests {
  @Test(
    "After the user and among the parameters",
    arguments: [
      ("postgresql://anna:secret@db/journal", "postgresql://anna@db/journal"),
      (
        "postgresql://anna:se%3Acret@db:5433/journal?sslmode=require",
        "postgresql://anna@db:5433/journal?sslmode=require"
      ),
      ("postgresql:///journal?password=secret&user=anna", "postgresql:///journal?password=***&user=anna"),
      ("postgresql:///j?user=a&sslpassword=secret", "postgresql:///j?user=a&sslpassword=***"),
      ("postgresql://db/journal", "postgresql://db/journal"),
      ("postgresql://anna:se#cret@db/journal", "postgresql://anna@db/journal"),
      ("postgresql://anna:se?c=ret@db/journal", "postgresql://anna@db/journal"),
      ("postgresql://anna:se/c:ret@db/journal?sslmode=require", "postgresql://anna@db/journal?sslmode=require"),
      ("postgresql://anna:s@c@ret@db/journal", "postgresql://anna@db/journal"),
      ("postgresql:///journal?pass%77ord=secret", "postgresql:///journal?pass%77ord=***"),
      (
        "postgresql://anna@db/journal?options=-csearch_path%3Da:b@c",
        "postgresql://anna@db/journal?options=-csearch_path%3Da:b@c"
      ),
    ])
  func shown(address: String, expected: String) { #expect(PostgreSQLAddress.withoutPasswords(address) == expected) }

  @Test("A long text without a password is searched at once", .timeLimit(.minutes(1)))
  func longText() {
    let text = String(repeating: "a", count: 200_000)
    #expect(PostgreSQLAddress.withoutPasswords(text) == text)
  }

  @Test("A server that can't be reached is error 134080, whose message names the address without the password")
  func unreachable() throws {
    let model = NSManagedObjectModel()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let folder = try TemporaryFolder()
    let url = try #require(URL(string: "postgresql://anna:sesame@/journal?host=\(folder.url.path)"))
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
    }
    #expect(error?.code == NSPersistentStoreOpenError)
    let text = "\(String(describing: error)) \(String(describing: error?.userInfo))"
    #expect(text.contains("postgresql://anna@/journal") && !text.contains("sesame"))
  }

  @Test("An address that libpq does not understand is refused without the password")
  func unusable() throws {
    let library = try PostgreSQLLibrary.load()
    let url = try #require(URL(string: "postgresql://anna:sesame@db/journal?nothing=1"))
    let error = #expect(throws: NSError.self) { try PostgreSQLAddress(url, library) }
    #expect(error?.localizedDescription.contains("nothing") == true && error?.isOfUnusableAddress == true)
    #expect(error?.localizedDescription.contains("sesame") == false)
  }

  @Test("A part of a password that libpq takes for something else is not in its message, however short it is")
  func partOfPassword() throws {
    let url = try #require(URL(string: "postgresql://anna:7x%2Fsesame@db/journal"))
    let address = try PostgreSQLAddress(url, try PostgreSQLLibrary.load())
    let message = address.withoutPasswords(#"invalid integer value "7x" for option "port", not found: "sesame@db""#)
    #expect(message == #"invalid integer value "***" for option "port", not found: "***@db""#)
  }

  @Test(
    "An address with several hosts becomes one that URLs can have",
    arguments: [
      (
        "postgresql://anna:se%40cret@h1:5432,h2:5433/journal?sslmode=require",
        "postgresql://anna:se%40cret@/journal?host=h1,h2&port=5432,5433&sslmode=require"
      ),
      ("postgres://h1,[::1]:5433", "postgres:///?host=h1,::1&port=,5433"),
      ("postgresql://anna@%2Frun%2Fpg/journal", "postgresql://anna@%2Frun%2Fpg/journal"),
      ("postgresql://anna@[::1]:5433/journal", "postgresql://anna@[::1]:5433/journal"),
    ])
  func hosts(address: String, expected: String) throws {
    let url = try #require(PostgreSQLAddress.url(address))
    #expect(url.absoluteString == expected)
    _ = try PostgreSQLAddress(url, try PostgreSQLLibrary.load())
  }

  @Test(
    "Passwords in arguments become stars, byte for byte",
    arguments: [
      ("--store=postgresql://anna:sé@db/j", "--store=postgresql://anna:***@db/j"),
      ("postgresql:///j?password=x&user=a", "postgresql:///j?password=*&user=a"), ("a.csv", "a.csv"),
      ("postgresql://anna@db/j", "postgresql://anna@db/j"),
    ])
  func stars(text: String, expected: String) { #expect(PostgreSQLAddress.withStars(text) == expected) }

  @Test("A file is not an address")
  func file() {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(
        ofType: NSPostgreSQLStoreType, configurationName: nil, at: URL(fileURLWithPath: "a.sqlite"))
    }
    #expect(error?.code == NSPersistentStoreOpenError)
  }
}
