// The commit that the program was built from. `.ci/stamp` writes it into this section of the finished program (`make
// demo` and `make release` call it), so that a new commit does not recompile anything; without that the text is empty.
static inline const volatile char *build_stamp_commit(void) {
  static const volatile char commit[64] __attribute__((section("build_commit"), used)) = {0};
  return commit;
}
