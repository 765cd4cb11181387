/* The classic lock on one Redis: SET NX PX, and scripts that compare the token
 * before they touch the key. */
#ifndef LOCK_H
#define LOCK_H

#include <hiredis/hiredis.h>

enum { TOKEN_BYTES = 20 };

/* One contender: a connection of its own and the token of the lock it holds. */
typedef struct {
	redisContext *redis;
	char token[2 * TOKEN_BYTES + 1];
} contender;

/* A trouble that is not an answer (no connection, an error reply, a reply of
 * another type) is kept in the text, and the call returns -1. */
typedef struct {
	char text[256];
} trouble;

int contender_open(contender *c, const char *host, int port, trouble *t);
void contender_close(contender *c);

/* 1: done, 0: refused, -1: trouble. Taking draws a new token. */
int lock_take(contender *c, const char *key, int ttl_ms, trouble *t);
int lock_release(contender *c, const char *key, trouble *t);
int lock_extend(contender *c, const char *key, int ttl_ms, trouble *t);

/* 1: the key holds this contender's token, 0: it does not, -1: trouble. */
int lock_held(contender *c, const char *key, trouble *t);

/* 1: the server forgot its scripts, -1: trouble. */
int scripts_flush(contender *c, trouble *t);

#endif
