// Records of a surf log as this program holds them. See scan.c for how they are found.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_HEADER "date,height,period,wind,location,rating"
enum { FIELDS = 6 };
enum text { HEIGHT, PERIOD, WIND, LOCATION, TEXTS };

// A record that passed: its texts lie in the block that it was read from; an empty one has length 0.
struct entry {
  int64_t date;  // seconds since 2001-01-01 UTC
  const char *text[TEXTS];
  uint32_t length[TEXTS];
  int rating;  // 0: none
  uint32_t spot;  // the key of what the location names, once it was looked up; 0: none
};

// Whole records of the file. One block is one transaction: 300 KiB are about 5,000 records of 60 bytes.
struct block {
  char *bytes;
  size_t filled;
  struct entry *entries;
  size_t count, rejected;
  bool is_last;
};
enum { BLOCK_BYTES = 300 << 10, BLOCK_PADDING = 64 };

struct block block_make(void);

// Fills `block` with the entries of its bytes. Returns how many bytes whole records took; the rest belongs to the
// next block.
size_t scan(struct block *block);

// Reads a log block by block.
struct reader {
  int file;
  size_t rest_bytes;
  char *rest;
};
struct reader reader_open(const char *path);
void reader_next(struct reader *reader, struct block *block);

// The same, read ahead by a thread of its own.
void readahead_start(struct reader *reader);
struct block *readahead_take(void);
void readahead_return(void);

// Days and dates from 1900 to 2199, by tables that calendar_start fills.
enum { FIRST_YEAR = 1900, YEARS = 300 };
struct day {
  uint8_t month, day;
};
extern int calendar_year[YEARS + 1];        // days from 2001-01-01 to the first of January
extern int calendar_month[2][14];           // days of a common and of a leap year before a month, from 1
extern struct day calendar_day[2][366];     // the date of a day of the year
void calendar_start(void);
static inline bool calendar_is_leap(unsigned year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// Ends the program with a message.
_Noreturn void fail(const char *what, const char *why);
