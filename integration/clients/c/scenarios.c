#include "scenarios.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { TTL_MS = 10000, SHORT_TTL_MS = 600 };

/* The scenario ends where a call is not answered as it should be. */
#define EXPECT(call, expected, why)                                          \
	do {                                                                 \
		int replied = (call);                                        \
		if (replied < 0)                                             \
			return 0;                                            \
		if (replied != (expected)) {                                 \
			snprintf(t->text, sizeof t->text, "%s", (why));      \
			return 0;                                            \
		}                                                            \
	} while (0)

static long now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int lock_and_unlock(contender *a, contender *b, trouble *t) {
	const char *key = "hiredis:plain";
	(void)b;
	EXPECT(lock_take(a, key, TTL_MS, t), 1, "a free lock was refused");
	EXPECT(lock_held(a, key, t), 1, "the lock is not there once it is had");
	EXPECT(lock_release(a, key, t), 1, "the holder could not release it");
	EXPECT(lock_held(a, key, t), 0, "the lock is there after its release");
	EXPECT(lock_release(a, key, t), 0, "it was released twice");
	return 1;
}

static int one_wins(contender *a, contender *b, trouble *t) {
	const char *key = "hiredis:two";
	EXPECT(lock_take(a, key, TTL_MS, t), 1, "a free lock was refused");
	EXPECT(lock_take(b, key, TTL_MS, t), 0, "it was had by two");
	EXPECT(lock_release(a, key, t), 1, "the holder could not release it");
	EXPECT(lock_take(b, key, TTL_MS, t), 1, "it was refused after its release");
	EXPECT(lock_release(b, key, t), 1, "the second holder could not release it");
	return 1;
}

static int stranger(contender *a, contender *b, trouble *t) {
	const char *key = "hiredis:stranger";
	EXPECT(lock_take(a, key, TTL_MS, t), 1, "a free lock was refused");
	EXPECT(lock_release(b, key, t), 0, "a stranger released it");
	EXPECT(lock_extend(b, key, TTL_MS, t), 0, "a stranger extended it");
	EXPECT(lock_held(a, key, t), 1, "the holder lost it to a stranger");
	EXPECT(lock_release(a, key, t), 1, "the holder could not release it");
	return 1;
}

static int extend(contender *a, contender *b, trouble *t) {
	const char *key = "hiredis:extend";
	EXPECT(lock_take(a, key, SHORT_TTL_MS, t), 1, "a free lock was refused");
	EXPECT(lock_extend(a, key, TTL_MS, t), 1, "the holder could not extend it");
	usleep((SHORT_TTL_MS + 200) * 1000);
	EXPECT(lock_take(b, key, TTL_MS, t), 0, "it ended although it was extended");
	EXPECT(lock_release(a, key, t), 1, "the holder could not release it");
	EXPECT(lock_extend(a, key, TTL_MS, t), 0, "it was extended after its release");
	return 1;
}

static int expiry(contender *a, contender *b, trouble *t) {
	const char *key = "hiredis:expiry";
	long begun = now_ms();
	EXPECT(lock_take(a, key, SHORT_TTL_MS, t), 1, "a free lock was refused");
	for (;;) {
		int answer = lock_take(b, key, TTL_MS, t);
		long after = now_ms() - begun;
		EXPECT(answer == 0 && after > 5 * SHORT_TTL_MS, 0, "it did not end");
		if (answer == 0) {
			usleep(20 * 1000);
			continue;
		}
		EXPECT(answer, 1, "");
		/* The two clocks are read to the millisecond. */
		EXPECT(after >= SHORT_TTL_MS - 1, 1, "it was free before its ttl");
		break;
	}
	EXPECT(lock_release(a, key, t), 0, "the first holder released what is another's now");
	EXPECT(lock_release(b, key, t), 1, "the second holder could not release it");
	return 1;
}

static int noscript(contender *a, contender *b, trouble *t) {
	const char *key = "hiredis:noscript";
	EXPECT(lock_take(a, key, TTL_MS, t), 1, "a free lock was refused");
	EXPECT(scripts_flush(b, t), 1, "");
	EXPECT(lock_extend(a, key, TTL_MS, t), 1, "the holder could not extend it");
	EXPECT(scripts_flush(b, t), 1, "");
	EXPECT(lock_release(a, key, t), 1, "the holder could not release it");
	EXPECT(lock_held(a, key, t), 0, "the lock is there after its release");
	return 1;
}

static int with_two(const address *where, trouble *t, int (*body)(contender *, contender *, trouble *)) {
	contender a = {0}, b = {0};
	int good = contender_open(&a, where->host, where->port, t) == 1 &&
		   contender_open(&b, where->host, where->port, t) == 1 && body(&a, &b, t);
	contender_close(&a);
	contender_close(&b);
	return good;
}

#define SCENARIO(name) \
	static int run_##name(const address *a, trouble *t) { return with_two(a, t, name); }
SCENARIO(lock_and_unlock)
SCENARIO(one_wins)
SCENARIO(stranger)
SCENARIO(extend)
SCENARIO(expiry)
SCENARIO(noscript)

const scenario scenarios[] = {
	{"lock and unlock", run_lock_and_unlock},
	{"two contenders, one wins", run_one_wins},
	{"release by a stranger is refused", run_stranger},
	{"extend", run_extend},
	{"expiry frees it", run_expiry},
	{"NOSCRIPT path", run_noscript},
};
const int scenario_count = sizeof scenarios / sizeof *scenarios;
