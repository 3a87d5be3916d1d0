#ifndef DISPATCH_LABEL_H
#define DISPATCH_LABEL_H

// The label of the queue that the calling code runs on. Dispatch has this function, but its Swift module hides it for
// the property `DispatchQueue.label`, and there is no way to ask for the queue itself. With NULL it means "the current
// one"; the name of this declaration differs so that it does not clash with Dispatch's own.
const char *queue_label(const void *queue) __asm__("dispatch_queue_get_label");

static inline const char *current_queue_label(void) { return queue_label((const void *)0); }

#endif
