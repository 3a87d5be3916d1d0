// The commit that a release was built from. `make release` writes it into this section of the finished program, so that
// a new commit does not recompile anything; without that the text is empty.
static inline const volatile char *build_stamp_commit(void) {
  static const volatile char commit[64] __attribute__((section("build_commit"), used)) = {0};
  return commit;
}
