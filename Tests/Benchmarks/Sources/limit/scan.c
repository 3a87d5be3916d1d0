// Finds the records of a block and checks them. Bytes are looked at 64 at a time: for each of quote, separator and
// line end there is a word with a bit for every byte, and what lies between quotes follows from the quotes' parity.
#include "entries.h"

#include <string.h>
#include <time.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct masks {
  uint64_t quote, comma, line_end, carriage_return, high;
};

#ifdef __SSE2__
static inline uint64_t equal(const __m128i part[4], char byte) {
  uint64_t bits = 0;
  for (int i = 0; i < 4; i++)
    bits |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part[i], _mm_set1_epi8(byte))) << 16 * i;
  return bits;
}

static inline struct masks look(const char *bytes) {
  __m128i part[4];
  uint64_t high = 0;
  for (int i = 0; i < 4; i++) {
    part[i] = _mm_loadu_si128((const __m128i *)(bytes + 16 * i));
    high |= (uint64_t)(uint16_t)_mm_movemask_epi8(part[i]) << 16 * i;
  }
  return (struct masks){equal(part, '"'), equal(part, ','), equal(part, '\n'), equal(part, '\r'), high};
}
#else
static inline struct masks look(const char *bytes) {
  struct masks found = {0};
  for (int i = 0; i < 64; i++) {
    uint64_t bit = 1ull << i;
    if (bytes[i] == '"') found.quote |= bit;
    if (bytes[i] == ',') found.comma |= bit;
    if (bytes[i] == '\n') found.line_end |= bit;
    if (bytes[i] == '\r') found.carriage_return |= bit;
    if (bytes[i] & 0x80) found.high |= bit;
  }
  return found;
}
#endif

// Bit n of the result: whether an odd number of the bits 0...n is set.
static inline uint64_t parity(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// RFC 3629, section 4.
static bool is_utf8(const unsigned char *at, const unsigned char *end) {
  while (at < end) {
    unsigned char lead = *at++;
    if (lead < 0x80) continue;
    int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (lead < 0xC2 || lead > 0xF4 || end - at < more) return false;
    // After some first bytes the second has narrower bounds: neither long forms, surrogates nor beyond Unicode.
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (*at < low || *at > high) return false;
    for (at++; --more > 0; at++)
      if ((*at & 0xC0) != 0x80) return false;
  }
  return true;
}

static inline unsigned two_digits(const char *at, unsigned *wrong) {
  unsigned tens = (unsigned char)at[0] - '0', ones = (unsigned char)at[1] - '0';
  *wrong |= (tens > 9) | (ones > 9);
  return tens * 10 + ones;
}

// 2014-07-14T09:30:00Z, from 1900 on and not in the future.
static inline bool read_date(const char *at, size_t length, int64_t now, int64_t *seconds) {
  if (length != 20) return false;
  unsigned wrong = (at[4] ^ '-') | (at[7] ^ '-') | (at[10] ^ 'T') | (at[13] ^ ':') | (at[16] ^ ':') | (at[19] ^ 'Z');
  unsigned century = two_digits(at, &wrong), year = century * 100 + two_digits(at + 2, &wrong);
  unsigned month = two_digits(at + 5, &wrong), day = two_digits(at + 8, &wrong);
  unsigned hour = two_digits(at + 11, &wrong), minute = two_digits(at + 14, &wrong);
  unsigned second = two_digits(at + 17, &wrong);
  wrong |= (year - FIRST_YEAR >= YEARS) | (month - 1 > 11) | (hour > 23) | (minute > 59) | (second > 59);
  if (wrong) return false;
  const int *before = calendar_month[calendar_is_leap(year)];
  if (day - 1 >= (unsigned)(before[month + 1] - before[month])) return false;
  int64_t days = calendar_year[year - FIRST_YEAR] + before[month] + (int)day - 1;
  *seconds = days * 86400 + hour * 3600 + minute * 60 + second;
  return *seconds <= now;
}

// Takes the quotes off a field, in its place.
static inline void unquote(const char **text, uint32_t *length) {
  char *from = (char *)*text + 1, *end = from + *length - 2;
  *text = from;
  char *to = memchr(from, '"', end - from);
  if (to == NULL) {
    *length -= 2;
    return;
  }
  for (from = to; from < end; from++) {
    *to++ = *from;
    if (*from == '"') from++;
  }
  *length = to - *text;
}

// One record whose fields end where `ends` says.
static inline bool read_entry(struct entry *entry, const char *record, const uint32_t ends[FIELDS], int64_t now) {
  if (!read_date(record, ends[0], now, &entry->date)) return false;
  for (int i = 0; i < TEXTS; i++) {
    const char *text = record + ends[i] + 1;
    uint32_t length = ends[i + 1] - ends[i] - 1;
    if (length > 0 && *text == '"') unquote(&text, &length);
    entry->text[i] = text;
    entry->length[i] = length;
  }
  const char *rating = record + ends[4] + 1;
  uint32_t length = ends[5] - ends[4] - 1;
  if (length > 0 && rating[length - 1] == '\r') length--;
  entry->rating = length == 0 ? 0 : *rating - '0';
  return length == 0 || (length == 1 && *rating >= '1' && *rating <= '5');
}

size_t scan(struct block *block) {
  const char *bytes = block->bytes;
  const int64_t now = time(NULL) - 978307200;  // the same instant, counted from 2001
  size_t record = 0;
  uint32_t ends[FIELDS];
  unsigned fields = 0;
  bool has_high = false;
  // What the bytes before say of the next 64: between quotes; a quote may open; a quote has just closed.
  uint64_t inside_before = 0, may_open_before = 1, closed_before = 0;
  block->count = block->rejected = 0;

  for (size_t base = 0; base < block->filled; base += 64) {
    struct masks found = look(bytes + base);
    size_t left = block->filled - base;
    uint64_t inside = parity(found.quote) ^ inside_before, outer = found.comma | found.line_end;
    uint64_t opening = found.quote & inside, closing = found.quote & ~inside;
    uint64_t odd = opening & ~((outer | closing) << 1 | may_open_before);
    odd |= (closing << 1 | closed_before) & ~(outer | found.carriage_return | found.quote);
    if (left < 64) odd &= (1ull << left) - 1;
    if (odd) fail("the log", "a quote stands in an odd place; this yardstick reads RFC 4180 only");
    may_open_before = (outer | closing) >> 63;
    closed_before = closing >> 63;
    inside_before = -(inside >> 63);

    for (uint64_t rest = outer & ~inside; rest != 0; rest &= rest - 1) {
      unsigned bit = __builtin_ctzll(rest);
      size_t at = base + bit;
      if (fields < FIELDS) ends[fields] = at - record;
      fields++;
      if (bytes[at] != '\n') continue;
      uint64_t of_record = bit == 63 ? ~0ull : (2ull << bit) - 1;
      has_high |= (found.high & of_record) != 0;
      found.high &= ~of_record;
      const unsigned char *first = (const unsigned char *)bytes + record;
      bool is_good = fields == FIELDS && (!has_high || is_utf8(first, first + (at - record))) &&
                     read_entry(&block->entries[block->count], bytes + record, ends, now);
      if (is_good) block->count++;
      else if (at > record) block->rejected++;  // an empty line is no record
      record = at + 1;
      fields = 0;
      has_high = false;
    }
    has_high |= found.high != 0;
  }
  return record;
}
