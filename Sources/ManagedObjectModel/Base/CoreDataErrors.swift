import Foundation

// The error codes and user-info keys of CoreDataErrors.h. Some belong to features that this library does not have.

/// The user-info key of the single errors of `NSValidationMultipleErrorsError`: an array of `NSError`.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The user-info key of the object that failed validation.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The user-info key of the name of the property that failed validation.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The user-info key of the predicate that the value does not match.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The user-info key of the value that failed validation.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The user-info key of the stores concerned: an array of `NSPersistentStore`.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The user-info key of the objects concerned: an array of `NSManagedObject`.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The user-info key of the conflicts of a save: an array of `NSMergeConflict`, or of `NSConstraintConflict`.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of errors with result codes of SQLite.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

/// The IDs of the objects that a save could not write, `[NSManagedObjectID]`. This library's own key: it lets a client
/// name what failed without materialising objects.
public let OCDFailedObjectIDsErrorKey = "OCDFailedObjectIDs"

/// An object failed validation for a reason without a code of its own.
public let NSManagedObjectValidationError = 1550
/// Objects have equal values of a uniqueness constraint.
public let NSManagedObjectConstraintValidationError = 1551
/// Several errors; `NSDetailedErrorsKey` has them.
public let NSValidationMultipleErrorsError = 1560
/// A property that is not optional has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A to-many relationship has fewer objects than its minimum count.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A to-many relationship has more objects than its maximum count.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// An object can't be deleted, because a relationship with the rule deny leads to another object.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is above its maximum.
public let NSValidationNumberTooLargeError = 1610
/// A number is below its minimum.
public let NSValidationNumberTooSmallError = 1620
/// A date is after its maximum.
public let NSValidationDateTooLateError = 1630
/// A date is before its minimum.
public let NSValidationDateTooSoonError = 1640
/// A date is not valid.
public let NSValidationInvalidDateError = 1650
/// A text is longer than its maximum.
public let NSValidationStringTooLongError = 1660
/// A text is shorter than its minimum.
public let NSValidationStringTooShortError = 1670
/// A text does not match its regular expression.
public let NSValidationStringPatternMatchingError = 1680
/// A URI is not valid.
public let NSValidationInvalidURIError = 1690
/// A context could not be locked.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator could not be locked.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// A fault leads to a row that does not exist.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship leads to an object of another store, which can't be saved.
public let NSManagedObjectExternalRelationshipError = 133010
/// Others have changed or deleted an object that is being saved, and the merge policy does not resolve it.
public let NSManagedObjectMergeError = 133020
/// A save breaks a uniqueness constraint, and the merge policy does not resolve it.
public let NSManagedObjectConstraintMergeError = 133021
/// There is no store of this type, or the file is not one of its stores.
public let NSPersistentStoreInvalidTypeError = 134000
/// The store is of another type than was asked for.
public let NSPersistentStoreTypeMismatchError = 134010
/// The database does not have the tables and columns that the model asks for.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A store could not be saved.
public let NSPersistentStoreSaveError = 134030
/// Some of several stores could not be saved.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save of several objects has conflicts that were not resolved.
public let NSPersistentStoreSaveConflictsError = 134050
/// A general error of Core Data.
public let NSCoreDataError = 134060
/// An operation on a store failed.
public let NSPersistentStoreOperationError = 134070
/// A store could not be opened.
public let NSPersistentStoreOpenError = 134080
/// A lock of a store did not become free in time.
public let NSPersistentStoreTimeoutError = 134090
/// The store does not support requests of this type.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The store was made with another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration failed.
public let NSMigrationError = 134110
/// A migrated store breaks a uniqueness constraint of the new model.
public let NSMigrationConstraintViolationError = 134111
/// A migration was cancelled.
public let NSMigrationCancelledError = 134120
/// The model of the store to be migrated was not found.
public let NSMigrationMissingSourceModelError = 134130
/// There is no mapping model between the models of a migration.
public let NSMigrationMissingMappingModelError = 134140
/// The store to be migrated can't be read.
public let NSMigrationManagerSourceStoreError = 134150
/// The store that a migration makes can't be written.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// An error of SQLite, which has no code of its own.
public let NSSQLiteError = 134180
/// No mapping model can be inferred between two models.
public let NSInferredMappingModelError = 134190
/// An external record could not be imported.
public let NSExternalRecordImportError = 134200
/// History was deleted that a token asks for.
public let NSPersistentHistoryTokenExpiredError = 134301
/// The model of a reference is not found, or is another one.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// A staged migration does not know a version.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// The store has a later version than the last stage of a migration.
public let NSStagedMigrationBackwardMigrationError = 134506

extension NSError {
  /// The codes that this library uses, so that call sites do not spell numbers.
  package enum CoreDataCode: Int {
    case validationMultipleErrors = 1560
    case missingMandatoryProperty = 1570
    case relationshipLacksMinimumCount = 1580
    case relationshipExceedsMaximumCount = 1590
    case relationshipDeniedDelete = 1600
    case objectNotFound = 133000
    case mergeConflict = 133020
    case constraintConflict = 133021
    case invalidStoreType = 134000
    case storeTypeMismatch = 134010
    case save = 134030
    case coreData = 134060
    case operation = 134070
    case open = 134080
    case timeout = 134090
    case unsupportedRequestType = 134091
    case incompatibleModel = 134100
    case migration = 134110
    case migrationConstraintViolation = 134111
    case missingSourceModel = 134130
    case missingMappingModel = 134140
    case managerSourceStore = 134150
    case managerDestinationStore = 134160
    case entityMigrationPolicy = 134170
    case sqlite = 134180
    case inferredMappingModel = 134190
    case historyTokenExpired = 134301
    case modelReferenceNotFound = 134504
    case stagedMigrationUnknownVersion = 134505
    case stagedMigrationBackward = 134506
  }

  /// A Core Data error in NSCocoaErrorDomain.
  ///
  /// - Parameters:
  ///   - message: What is wrong and what to do, in words for people who use a program: without the library's constants.
  ///   - suggestion: What the programmer can do, with such constants: the recovery suggestion.
  package static func coreData(
    _ code: CoreDataCode, _ message: String, suggestion: String? = nil, userInfo: [String: Any] = [:]
  ) -> NSError {
    var info = userInfo
    if let suggestion { info[NSLocalizedRecoverySuggestionErrorKey] = suggestion }
    info[NSLocalizedDescriptionKey] = message
    return NSError(domain: NSCocoaErrorDomain, code: code.rawValue, userInfo: info)
  }
}
