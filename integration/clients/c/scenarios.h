/* What is asked of the lock, each scenario with a key of its own. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "lock.h"

typedef struct {
	const char *host;
	int port;
} address;

typedef struct {
	const char *what;
	/* 1: as it should be; else the trouble says why not. */
	int (*run)(const address *a, trouble *t);
} scenario;

extern const scenario scenarios[];
extern const int scenario_count;

/* Many contenders and one counter. said gets what was run. */
int guarded_counter(const address *a, char *said, int said_size, trouble *t);

#endif
