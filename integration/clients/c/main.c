/* hiredis through a Redis, or through what stands in for one.
 *
 * usage: classic HOST PORT */
#include "scenarios.h"

#include <stdio.h>
#include <stdlib.h>

#define LIBRARY "hiredis"

static char version[32];
static int failed;

static void judge(const char *what, int good, const trouble *t) {
	if (good)
		return;
	failed = 1;
	printf("FAIL " LIBRARY " %s: %s: %s\n", version, what, t->text);
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: classic HOST PORT\n");
		return 2;
	}
	address where = {.host = argv[1], .port = atoi(argv[2])};
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(version, sizeof version, "%d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);

	trouble t = {""};
	for (int i = 0; i < scenario_count; i++)
		judge(scenarios[i].what, scenarios[i].run(&where, &t), &t);

	char said[120] = "";
	printf("counter begins " LIBRARY "\n");
	int good = guarded_counter(&where, said, sizeof said, &t);
	printf("counter ends " LIBRARY "\n");
	judge("guarded counter", good, &t);

	if (failed)
		return 1;
	printf("ok " LIBRARY " %s: ", version);
	for (int i = 0; i < scenario_count; i++)
		printf("%s, ", scenarios[i].what);
	printf("%s\n", said);
	return 0;
}
