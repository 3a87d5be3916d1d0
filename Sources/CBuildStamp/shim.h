// The commit that the program was built from. `.ci/stamp` writes it into this section of the finished program (`make
// demo` and `make program` call it), so that a new commit does not recompile anything; without that the text is empty.
//
// Not const: the optimiser would read the zeros of a constant at compile time, and the linker would then drop the
// section.
static inline const volatile char *build_stamp_commit(void) {
  static volatile char commit[64] __attribute__((section("build_commit"), used)) = {0};
  return commit;
}
