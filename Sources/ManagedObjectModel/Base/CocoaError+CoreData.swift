import Foundation

// Core Data's errors as spelled in `catch CocoaError.validationMultipleErrors` and `error.code == .managedObjectMerge`.

extension CocoaError.Code {
  /// An object failed validation for a reason without a code of its own. (`NSManagedObjectValidationError`)
  public static var managedObjectValidation: Self { Self(rawValue: NSManagedObjectValidationError) }
  /// Objects have equal values of a uniqueness constraint. (`NSManagedObjectConstraintValidationError`)
  public static var managedObjectConstraintValidation: Self { Self(rawValue: NSManagedObjectConstraintValidationError) }
  /// Several errors; `NSDetailedErrorsKey` has them. (`NSValidationMultipleErrorsError`)
  public static var validationMultipleErrors: Self { Self(rawValue: NSValidationMultipleErrorsError) }
  /// A property that is not optional has no value. (`NSValidationMissingMandatoryPropertyError`)
  public static var validationMissingMandatoryProperty: Self {
    Self(rawValue: NSValidationMissingMandatoryPropertyError)
  }
  /// A to-many relationship has fewer objects than its minimum count.
  /// (`NSValidationRelationshipLacksMinimumCountError`)
  public static var validationRelationshipLacksMinimumCount: Self {
    Self(rawValue: NSValidationRelationshipLacksMinimumCountError)
  }
  /// A to-many relationship has more objects than its maximum count.
  /// (`NSValidationRelationshipExceedsMaximumCountError`)
  public static var validationRelationshipExceedsMaximumCount: Self {
    Self(rawValue: NSValidationRelationshipExceedsMaximumCountError)
  }
  /// An object can't be deleted, because a relationship with the rule deny leads to another object.
  /// (`NSValidationRelationshipDeniedDeleteError`)
  public static var validationRelationshipDeniedDelete: Self {
    Self(rawValue: NSValidationRelationshipDeniedDeleteError)
  }
  /// A number is above its maximum. (`NSValidationNumberTooLargeError`)
  public static var validationNumberTooLarge: Self { Self(rawValue: NSValidationNumberTooLargeError) }
  /// A number is below its minimum. (`NSValidationNumberTooSmallError`)
  public static var validationNumberTooSmall: Self { Self(rawValue: NSValidationNumberTooSmallError) }
  /// A date is after its maximum. (`NSValidationDateTooLateError`)
  public static var validationDateTooLate: Self { Self(rawValue: NSValidationDateTooLateError) }
  /// A date is before its minimum. (`NSValidationDateTooSoonError`)
  public static var validationDateTooSoon: Self { Self(rawValue: NSValidationDateTooSoonError) }
  /// A date is not valid. (`NSValidationInvalidDateError`)
  public static var validationInvalidDate: Self { Self(rawValue: NSValidationInvalidDateError) }
  /// A text is longer than its maximum. (`NSValidationStringTooLongError`)
  public static var validationStringTooLong: Self { Self(rawValue: NSValidationStringTooLongError) }
  /// A text is shorter than its minimum. (`NSValidationStringTooShortError`)
  public static var validationStringTooShort: Self { Self(rawValue: NSValidationStringTooShortError) }
  /// A text does not match its regular expression. (`NSValidationStringPatternMatchingError`)
  public static var validationStringPatternMatching: Self { Self(rawValue: NSValidationStringPatternMatchingError) }
  /// A URI is not valid. (`NSValidationInvalidURIError`)
  public static var validationInvalidURI: Self { Self(rawValue: NSValidationInvalidURIError) }
  /// A context could not be locked. (`NSManagedObjectContextLockingError`)
  public static var managedObjectContextLocking: Self { Self(rawValue: NSManagedObjectContextLockingError) }
  /// A coordinator could not be locked. (`NSPersistentStoreCoordinatorLockingError`)
  public static var persistentStoreCoordinatorLocking: Self { Self(rawValue: NSPersistentStoreCoordinatorLockingError) }
  /// A fault leads to a row that does not exist. (`NSManagedObjectReferentialIntegrityError`)
  public static var managedObjectReferentialIntegrity: Self { Self(rawValue: NSManagedObjectReferentialIntegrityError) }
  /// A relationship leads to an object of another store, which can't be saved.
  /// (`NSManagedObjectExternalRelationshipError`)
  public static var managedObjectExternalRelationship: Self { Self(rawValue: NSManagedObjectExternalRelationshipError) }
  /// Others have changed or deleted an object that is being saved, and the merge policy does not resolve it.
  /// (`NSManagedObjectMergeError`)
  public static var managedObjectMerge: Self { Self(rawValue: NSManagedObjectMergeError) }
  /// A save breaks a uniqueness constraint, and the merge policy does not resolve it.
  /// (`NSManagedObjectConstraintMergeError`)
  public static var managedObjectConstraintMerge: Self { Self(rawValue: NSManagedObjectConstraintMergeError) }
  /// There is no store of this type, or the file is not one of its stores. (`NSPersistentStoreInvalidTypeError`)
  public static var persistentStoreInvalidType: Self { Self(rawValue: NSPersistentStoreInvalidTypeError) }
  /// The store is of another type than was asked for. (`NSPersistentStoreTypeMismatchError`)
  public static var persistentStoreTypeMismatch: Self { Self(rawValue: NSPersistentStoreTypeMismatchError) }
  /// The database does not have the tables and columns that the model asks for.
  /// (`NSPersistentStoreIncompatibleSchemaError`)
  public static var persistentStoreIncompatibleSchema: Self { Self(rawValue: NSPersistentStoreIncompatibleSchemaError) }
  /// A store could not be saved. (`NSPersistentStoreSaveError`)
  public static var persistentStoreSave: Self { Self(rawValue: NSPersistentStoreSaveError) }
  /// Some of several stores could not be saved. (`NSPersistentStoreIncompleteSaveError`)
  public static var persistentStoreIncompleteSave: Self { Self(rawValue: NSPersistentStoreIncompleteSaveError) }
  /// A save of several objects has conflicts that were not resolved. (`NSPersistentStoreSaveConflictsError`)
  public static var persistentStoreSaveConflicts: Self { Self(rawValue: NSPersistentStoreSaveConflictsError) }
  /// A general error of Core Data. (`NSCoreDataError`)
  public static var coreData: Self { Self(rawValue: NSCoreDataError) }
  /// An operation on a store failed. (`NSPersistentStoreOperationError`)
  public static var persistentStoreOperation: Self { Self(rawValue: NSPersistentStoreOperationError) }
  /// A store could not be opened. (`NSPersistentStoreOpenError`)
  public static var persistentStoreOpen: Self { Self(rawValue: NSPersistentStoreOpenError) }
  /// A lock of a store did not become free in time. (`NSPersistentStoreTimeoutError`)
  public static var persistentStoreTimeout: Self { Self(rawValue: NSPersistentStoreTimeoutError) }
  /// The store does not support requests of this type. (`NSPersistentStoreUnsupportedRequestTypeError`)
  public static var persistentStoreUnsupportedRequestType: Self {
    Self(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  }
  /// The store was made with another version of the model. (`NSPersistentStoreIncompatibleVersionHashError`)
  public static var persistentStoreIncompatibleVersionHash: Self {
    Self(rawValue: NSPersistentStoreIncompatibleVersionHashError)
  }
  /// A migration failed. (`NSMigrationError`)
  public static var migration: Self { Self(rawValue: NSMigrationError) }
  /// A migration was cancelled. (`NSMigrationCancelledError`)
  public static var migrationCancelled: Self { Self(rawValue: NSMigrationCancelledError) }
  /// The model of the store to be migrated was not found. (`NSMigrationMissingSourceModelError`)
  public static var migrationMissingSourceModel: Self { Self(rawValue: NSMigrationMissingSourceModelError) }
  /// There is no mapping model between the models of a migration. (`NSMigrationMissingMappingModelError`)
  public static var migrationMissingMappingModel: Self { Self(rawValue: NSMigrationMissingMappingModelError) }
  /// The store to be migrated can't be read. (`NSMigrationManagerSourceStoreError`)
  public static var migrationManagerSourceStore: Self { Self(rawValue: NSMigrationManagerSourceStoreError) }
  /// The store that a migration makes can't be written. (`NSMigrationManagerDestinationStoreError`)
  public static var migrationManagerDestinationStore: Self { Self(rawValue: NSMigrationManagerDestinationStoreError) }
  /// A migration policy failed. (`NSEntityMigrationPolicyError`)
  public static var entityMigrationPolicy: Self { Self(rawValue: NSEntityMigrationPolicyError) }
  /// An error of SQLite, which has no code of its own. (`NSSQLiteError`)
  public static var sqlite: Self { Self(rawValue: NSSQLiteError) }
  /// No mapping model can be inferred between two models. (`NSInferredMappingModelError`)
  public static var inferredMappingModel: Self { Self(rawValue: NSInferredMappingModelError) }
  /// An external record could not be imported. (`NSExternalRecordImportError`)
  public static var externalRecordImport: Self { Self(rawValue: NSExternalRecordImportError) }
  /// History was deleted that a token asks for. (`NSPersistentHistoryTokenExpiredError`)
  public static var persistentHistoryTokenExpired: Self { Self(rawValue: NSPersistentHistoryTokenExpiredError) }
}

extension CocoaError {
  /// The code `NSManagedObjectValidationError`, for `catch CocoaError.managedObjectValidation`.
  public static var managedObjectValidation: Code { .managedObjectValidation }
  /// The code `NSManagedObjectConstraintValidationError`, for `catch CocoaError.managedObjectConstraintValidation`.
  public static var managedObjectConstraintValidation: Code { .managedObjectConstraintValidation }
  /// The code `NSValidationMultipleErrorsError`, for `catch CocoaError.validationMultipleErrors`.
  public static var validationMultipleErrors: Code { .validationMultipleErrors }
  /// The code `NSValidationMissingMandatoryPropertyError`, for `catch CocoaError.validationMissingMandatoryProperty`.
  public static var validationMissingMandatoryProperty: Code { .validationMissingMandatoryProperty }
  /// The code `NSValidationRelationshipLacksMinimumCountError`, for `catch
  /// CocoaError.validationRelationshipLacksMinimumCount`.
  public static var validationRelationshipLacksMinimumCount: Code { .validationRelationshipLacksMinimumCount }
  /// The code `NSValidationRelationshipExceedsMaximumCountError`, for `catch
  /// CocoaError.validationRelationshipExceedsMaximumCount`.
  public static var validationRelationshipExceedsMaximumCount: Code { .validationRelationshipExceedsMaximumCount }
  /// The code `NSValidationRelationshipDeniedDeleteError`, for `catch CocoaError.validationRelationshipDeniedDelete`.
  public static var validationRelationshipDeniedDelete: Code { .validationRelationshipDeniedDelete }
  /// The code `NSValidationNumberTooLargeError`, for `catch CocoaError.validationNumberTooLarge`.
  public static var validationNumberTooLarge: Code { .validationNumberTooLarge }
  /// The code `NSValidationNumberTooSmallError`, for `catch CocoaError.validationNumberTooSmall`.
  public static var validationNumberTooSmall: Code { .validationNumberTooSmall }
  /// The code `NSValidationDateTooLateError`, for `catch CocoaError.validationDateTooLate`.
  public static var validationDateTooLate: Code { .validationDateTooLate }
  /// The code `NSValidationDateTooSoonError`, for `catch CocoaError.validationDateTooSoon`.
  public static var validationDateTooSoon: Code { .validationDateTooSoon }
  /// The code `NSValidationInvalidDateError`, for `catch CocoaError.validationInvalidDate`.
  public static var validationInvalidDate: Code { .validationInvalidDate }
  /// The code `NSValidationStringTooLongError`, for `catch CocoaError.validationStringTooLong`.
  public static var validationStringTooLong: Code { .validationStringTooLong }
  /// The code `NSValidationStringTooShortError`, for `catch CocoaError.validationStringTooShort`.
  public static var validationStringTooShort: Code { .validationStringTooShort }
  /// The code `NSValidationStringPatternMatchingError`, for `catch CocoaError.validationStringPatternMatching`.
  public static var validationStringPatternMatching: Code { .validationStringPatternMatching }
  /// The code `NSValidationInvalidURIError`, for `catch CocoaError.validationInvalidURI`.
  public static var validationInvalidURI: Code { .validationInvalidURI }
  /// The code `NSManagedObjectContextLockingError`, for `catch CocoaError.managedObjectContextLocking`.
  public static var managedObjectContextLocking: Code { .managedObjectContextLocking }
  /// The code `NSPersistentStoreCoordinatorLockingError`, for `catch CocoaError.persistentStoreCoordinatorLocking`.
  public static var persistentStoreCoordinatorLocking: Code { .persistentStoreCoordinatorLocking }
  /// The code `NSManagedObjectReferentialIntegrityError`, for `catch CocoaError.managedObjectReferentialIntegrity`.
  public static var managedObjectReferentialIntegrity: Code { .managedObjectReferentialIntegrity }
  /// The code `NSManagedObjectExternalRelationshipError`, for `catch CocoaError.managedObjectExternalRelationship`.
  public static var managedObjectExternalRelationship: Code { .managedObjectExternalRelationship }
  /// The code `NSManagedObjectMergeError`, for `catch CocoaError.managedObjectMerge`.
  public static var managedObjectMerge: Code { .managedObjectMerge }
  /// The code `NSManagedObjectConstraintMergeError`, for `catch CocoaError.managedObjectConstraintMerge`.
  public static var managedObjectConstraintMerge: Code { .managedObjectConstraintMerge }
  /// The code `NSPersistentStoreInvalidTypeError`, for `catch CocoaError.persistentStoreInvalidType`.
  public static var persistentStoreInvalidType: Code { .persistentStoreInvalidType }
  /// The code `NSPersistentStoreTypeMismatchError`, for `catch CocoaError.persistentStoreTypeMismatch`.
  public static var persistentStoreTypeMismatch: Code { .persistentStoreTypeMismatch }
  /// The code `NSPersistentStoreIncompatibleSchemaError`, for `catch CocoaError.persistentStoreIncompatibleSchema`.
  public static var persistentStoreIncompatibleSchema: Code { .persistentStoreIncompatibleSchema }
  /// The code `NSPersistentStoreSaveError`, for `catch CocoaError.persistentStoreSave`.
  public static var persistentStoreSave: Code { .persistentStoreSave }
  /// The code `NSPersistentStoreIncompleteSaveError`, for `catch CocoaError.persistentStoreIncompleteSave`.
  public static var persistentStoreIncompleteSave: Code { .persistentStoreIncompleteSave }
  /// The code `NSPersistentStoreSaveConflictsError`, for `catch CocoaError.persistentStoreSaveConflicts`.
  public static var persistentStoreSaveConflicts: Code { .persistentStoreSaveConflicts }
  /// The code `NSCoreDataError`, for `catch CocoaError.coreData`.
  public static var coreData: Code { .coreData }
  /// The code `NSPersistentStoreOperationError`, for `catch CocoaError.persistentStoreOperation`.
  public static var persistentStoreOperation: Code { .persistentStoreOperation }
  /// The code `NSPersistentStoreOpenError`, for `catch CocoaError.persistentStoreOpen`.
  public static var persistentStoreOpen: Code { .persistentStoreOpen }
  /// The code `NSPersistentStoreTimeoutError`, for `catch CocoaError.persistentStoreTimeout`.
  public static var persistentStoreTimeout: Code { .persistentStoreTimeout }
  /// The code `NSPersistentStoreUnsupportedRequestTypeError`, for `catch
  /// CocoaError.persistentStoreUnsupportedRequestType`.
  public static var persistentStoreUnsupportedRequestType: Code { .persistentStoreUnsupportedRequestType }
  /// The code `NSPersistentStoreIncompatibleVersionHashError`, for `catch
  /// CocoaError.persistentStoreIncompatibleVersionHash`.
  public static var persistentStoreIncompatibleVersionHash: Code { .persistentStoreIncompatibleVersionHash }
  /// The code `NSMigrationError`, for `catch CocoaError.migration`.
  public static var migration: Code { .migration }
  /// The code `NSMigrationCancelledError`, for `catch CocoaError.migrationCancelled`.
  public static var migrationCancelled: Code { .migrationCancelled }
  /// The code `NSMigrationMissingSourceModelError`, for `catch CocoaError.migrationMissingSourceModel`.
  public static var migrationMissingSourceModel: Code { .migrationMissingSourceModel }
  /// The code `NSMigrationMissingMappingModelError`, for `catch CocoaError.migrationMissingMappingModel`.
  public static var migrationMissingMappingModel: Code { .migrationMissingMappingModel }
  /// The code `NSMigrationManagerSourceStoreError`, for `catch CocoaError.migrationManagerSourceStore`.
  public static var migrationManagerSourceStore: Code { .migrationManagerSourceStore }
  /// The code `NSMigrationManagerDestinationStoreError`, for `catch CocoaError.migrationManagerDestinationStore`.
  public static var migrationManagerDestinationStore: Code { .migrationManagerDestinationStore }
  /// The code `NSEntityMigrationPolicyError`, for `catch CocoaError.entityMigrationPolicy`.
  public static var entityMigrationPolicy: Code { .entityMigrationPolicy }
  /// The code `NSSQLiteError`, for `catch CocoaError.sqlite`.
  public static var sqlite: Code { .sqlite }
  /// The code `NSInferredMappingModelError`, for `catch CocoaError.inferredMappingModel`.
  public static var inferredMappingModel: Code { .inferredMappingModel }
  /// The code `NSExternalRecordImportError`, for `catch CocoaError.externalRecordImport`.
  public static var externalRecordImport: Code { .externalRecordImport }
  /// The code `NSPersistentHistoryTokenExpiredError`, for `catch CocoaError.persistentHistoryTokenExpired`.
  public static var persistentHistoryTokenExpired: Code { .persistentHistoryTokenExpired }
}
