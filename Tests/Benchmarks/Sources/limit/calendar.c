#include "entries.h"

int calendar_year[YEARS + 1];
int calendar_month[2][14];
struct day calendar_day[2][366];

void calendar_start(void) {
  static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int leap = 0; leap < 2; leap++) {
    int day = 0;
    for (int month = 1; month <= 12; month++) {
      calendar_month[leap][month] = day;
      int length = lengths[month - 1] + (leap && month == 2);
      for (int date = 1; date <= length; date++) calendar_day[leap][day++] = (struct day){month, date};
    }
    calendar_month[leap][13] = day;
  }
  // 101 years of the past century, 25 of them leap years (1900 is none), lie between the first year and 2001.
  calendar_year[0] = -(101 * 365 + 25);
  for (int year = 0; year < YEARS; year++)
    calendar_year[year + 1] = calendar_year[year] + 365 + calendar_is_leap(FIRST_YEAR + year);
}
