#ifndef TRY_RETAIN_H
#define TRY_RETAIN_H

// Retains an object of Swift unless its last reference is gone already; then the result is NULL. The function is part of
// Swift's stable binary interface (swift/Runtime/HeapObject.h) and has no name in the language, whose only way to it is
// `weak`, with a side table for each object. The memory of the object must still be there.
void *_Nullable swift_tryRetain(void *_Nonnull object);

#endif
