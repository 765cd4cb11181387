/*
 * Preloaded into a server, this library adds an offset to the wall clock that
 * the server reads. The offset is an int64 of nanoseconds in a file that is
 * mapped shared, so that whoever writes the file makes the clock jump while
 * the server runs. The monotonic clocks are left alone: they do not jump.
 *
 * Nothing here allocates, and nothing looks up a symbol: the server's
 * allocator reads the clock before it can serve anybody, and would be entered
 * a second time by either. The kernel is asked directly instead.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

/* NULL until the constructor has run, and for ever without a file. */
static volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void)
{
	const char *path = getenv("REDIS_CLOCK_OFFSET");
	void *page;
	int fd;

	if (path == NULL)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort(); /* a test whose clock cannot jump proves nothing */
	page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		abort();
	offset = page;
}

static int is_wall_clock(clockid_t id)
{
	return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns;

	if (syscall(SYS_clock_gettime, id, ts) != 0)
		return -1;
	if (offset == NULL || !is_wall_clock(id))
		return 0;
	ns = (int64_t)ts->tv_sec * SECOND + ts->tv_nsec + *offset;
	ts->tv_sec = ns / SECOND;
	ts->tv_nsec = ns % SECOND;
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec ts;

	(void)tz; /* obsolete: Linux knows no time zone */
	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return (time_t)-1;
	if (t != NULL)
		*t = ts.tv_sec;
	return ts.tv_sec;
}
