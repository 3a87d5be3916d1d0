import Foundation

// The error codes and user-info keys of CoreDataErrors.h. Some belong to features that this library does not have.

public let NSDetailedErrorsKey = "NSDetailedErrors"
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
public let NSValidationValueErrorKey = "NSValidationErrorValue"
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

/// The IDs of the objects that a save could not write, `[NSManagedObjectID]`. This library's own key: it lets a client
/// name what failed without materialising objects.
public let OCDFailedObjectIDsErrorKey = "OCDFailedObjectIDs"

public let NSManagedObjectValidationError = 1550
public let NSManagedObjectConstraintValidationError = 1551
public let NSValidationMultipleErrorsError = 1560
public let NSValidationMissingMandatoryPropertyError = 1570
public let NSValidationRelationshipLacksMinimumCountError = 1580
public let NSValidationRelationshipExceedsMaximumCountError = 1590
public let NSValidationRelationshipDeniedDeleteError = 1600
public let NSValidationNumberTooLargeError = 1610
public let NSValidationNumberTooSmallError = 1620
public let NSValidationDateTooLateError = 1630
public let NSValidationDateTooSoonError = 1640
public let NSValidationInvalidDateError = 1650
public let NSValidationStringTooLongError = 1660
public let NSValidationStringTooShortError = 1670
public let NSValidationStringPatternMatchingError = 1680
public let NSValidationInvalidURIError = 1690
public let NSManagedObjectContextLockingError = 132000
public let NSPersistentStoreCoordinatorLockingError = 132010
public let NSManagedObjectReferentialIntegrityError = 133000
public let NSManagedObjectExternalRelationshipError = 133010
public let NSManagedObjectMergeError = 133020
public let NSManagedObjectConstraintMergeError = 133021
public let NSPersistentStoreInvalidTypeError = 134000
public let NSPersistentStoreTypeMismatchError = 134010
public let NSPersistentStoreIncompatibleSchemaError = 134020
public let NSPersistentStoreSaveError = 134030
public let NSPersistentStoreIncompleteSaveError = 134040
public let NSPersistentStoreSaveConflictsError = 134050
public let NSCoreDataError = 134060
public let NSPersistentStoreOperationError = 134070
public let NSPersistentStoreOpenError = 134080
public let NSPersistentStoreTimeoutError = 134090
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
public let NSPersistentStoreIncompatibleVersionHashError = 134100
public let NSMigrationError = 134110
public let NSMigrationConstraintViolationError = 134111
public let NSMigrationCancelledError = 134120
public let NSMigrationMissingSourceModelError = 134130
public let NSMigrationMissingMappingModelError = 134140
public let NSMigrationManagerSourceStoreError = 134150
public let NSMigrationManagerDestinationStoreError = 134160
public let NSEntityMigrationPolicyError = 134170
public let NSSQLiteError = 134180
public let NSInferredMappingModelError = 134190
public let NSExternalRecordImportError = 134200
public let NSPersistentHistoryTokenExpiredError = 134301
public let NSStagedMigrationFrameworkVersionMismatchError = 134504
public let NSStagedMigrationBackwardMigrationError = 134505

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
    case stagedMigrationUnknownVersion = 134504
    case stagedMigrationBackward = 134505
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
