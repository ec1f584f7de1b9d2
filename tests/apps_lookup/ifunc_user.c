#include <stdio.h>

int call_chosen(void);

int main(void) {
  printf("%d\n", call_chosen());
  return 0;
}
