/* Twenty threads and one counter, which is read and written back under the
 * lock. Two holders at a time would lose updates.
 *
 * NOQUORUM is no failure here: on a machine that stands still for a moment no
 * master answers in time, and a contender asks again. It is counted, though. */
#include "scenarios.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONTENDERS = 20, SECONDS = 5, LEAST = 30, TTL_MS = 5000 };

static const char key[] = "hiredis:counter";

/* Its loads and stores are atomic one by one and not together. */
static atomic_long counter;
static atomic_int holders;

typedef struct {
	const address *where;
	time_t end;
	unsigned seed;
	long held;
	long no_quorum;
	int failed;
	trouble trouble;
} thread;

static time_t seconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static int add_one(thread *self) {
	if (atomic_fetch_add(&holders, 1) != 0) {
		snprintf(self->trouble.text, sizeof self->trouble.text, "two held it together");
		return 0;
	}
	long value = atomic_load(&counter);
	usleep(1000);
	atomic_store(&counter, value + 1);
	atomic_fetch_sub(&holders, 1);
	self->held++;
	return 1;
}

static int no_quorum(thread *self) {
	if (strstr(self->trouble.text, ": NOQUORUM ") == NULL)
		return 0;
	self->no_quorum++;
	return 1;
}

static void rest(thread *self) { usleep(5000 + rand_r(&self->seed) % 10000); }

/* A release that had no quorum may have been carried out all the same: then
 * there is nothing left for the next one. */
static int give_back(thread *self, contender *c) {
	int asked_before = 0;
	for (;; asked_before = 1, rest(self)) {
		int answer = lock_release(c, key, &self->trouble);
		if (answer == 1 || (answer == 0 && asked_before))
			return 1;
		if (answer == 0)
			snprintf(self->trouble.text, sizeof self->trouble.text, "the holder could not release it");
		if (answer == 0 || !no_quorum(self))
			return 0;
	}
}

static int contend(thread *self, contender *c) {
	while (seconds() < self->end || atomic_load(&counter) < LEAST) {
		int answer = lock_take(c, key, TTL_MS, &self->trouble);
		if (answer == 1) {
			if (!add_one(self) || !give_back(self, c))
				return 0;
		} else if (answer < 0 && !no_quorum(self)) {
			return 0;
		} else {
			rest(self);
		}
	}
	return 1;
}

static void *run(void *argument) {
	thread *self = argument;
	contender c = {0};
	self->failed = contender_open(&c, self->where->host, self->where->port, &self->trouble) != 1 ||
		       !contend(self, &c);
	contender_close(&c);
	return NULL;
}

int guarded_counter(const address *where, char *said, int said_size, trouble *t) {
	static thread threads[CONTENDERS];
	pthread_t ids[CONTENDERS];
	time_t end = seconds() + SECONDS;
	for (int i = 0; i < CONTENDERS; i++) {
		threads[i] = (thread){.where = where, .end = end, .seed = i + 1};
		if (pthread_create(&ids[i], NULL, run, &threads[i]) != 0)
			abort();
	}
	long held = 0, without = 0;
	int good = 1;
	for (int i = 0; i < CONTENDERS; i++) {
		pthread_join(ids[i], NULL);
		held += threads[i].held;
		without += threads[i].no_quorum;
		if (threads[i].failed) {
			*t = threads[i].trouble;
			good = 0;
		}
	}
	if (!good)
		return 0;
	if (held != atomic_load(&counter)) {
		snprintf(t->text, sizeof t->text, "held %ld times, counted %ld", held, atomic_load(&counter));
		return 0;
	}
	snprintf(said, said_size, "%ld guarded increments by %d contenders (%ld times NOQUORUM)", held, CONTENDERS, without);
	return 1;
}
