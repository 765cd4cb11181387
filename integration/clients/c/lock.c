#include "lock.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>

static const char release_script[] =
	"if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n"
	"    return redis.call(\"del\",KEYS[1])\n"
	"else\n"
	"    return 0\n"
	"end";
static const char release_sha[] = "647c65a442733a1aa440f99908d249d13b4d6c4a";

static const char extend_script[] =
	"if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n"
	"    return redis.call(\"pexpire\",KEYS[1],ARGV[2])\n"
	"else\n"
	"    return 0\n"
	"end";
static const char extend_sha[] = "1bfbb99810d66d9ea59b16336fdf07c12b8be9fc";

static int give_up(trouble *t, const char *what, const char *why) {
	snprintf(t->text, sizeof t->text, "%s: %s", what, why);
	return -1;
}

int contender_open(contender *c, const char *host, int port, trouble *t) {
	struct timeval patience = {.tv_sec = 5};
	c->redis = redisConnectWithTimeout(host, port, patience);
	if (c->redis == NULL)
		return give_up(t, "connect", "out of memory");
	if (c->redis->err || redisSetTimeout(c->redis, patience) != REDIS_OK)
		return give_up(t, "connect", c->redis->errstr);
	strcpy(c->token, "none");
	return 1;
}

void contender_close(contender *c) {
	redisFree(c->redis);
	c->redis = NULL;
}

static void draw_token(contender *c) {
	unsigned char bytes[TOKEN_BYTES];
	if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		__builtin_trap();
	for (int i = 0; i < TOKEN_BYTES; i++)
		sprintf(c->token + 2 * i, "%02x", bytes[i]);
}

/* Takes the reply over: it is freed here. */
static int integer(contender *c, redisReply *reply, const char *what, trouble *t) {
	int result;
	if (reply == NULL)
		return give_up(t, what, c->redis->errstr);
	if (reply->type == REDIS_REPLY_INTEGER)
		result = reply->integer != 0;
	else if (reply->type == REDIS_REPLY_ERROR)
		result = give_up(t, what, reply->str);
	else
		result = give_up(t, what, "the reply is not an integer");
	freeReplyObject(reply);
	return result;
}

/* Sends the script by its sha, and in full where the server does not know it. */
static int run_script(contender *c, const char *what, trouble *t, const char *sha, const char *script,
		      const char *key, const char *argument) {
	const char *argv[] = {"EVALSHA", sha, "1", key, c->token, argument};
	int argc = argument == NULL ? 5 : 6;
	redisReply *reply = redisCommandArgv(c->redis, argc, argv, NULL);
	if (reply != NULL && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOSCRIPT ", 9) == 0) {
		freeReplyObject(reply);
		argv[0] = "EVAL";
		argv[1] = script;
		reply = redisCommandArgv(c->redis, argc, argv, NULL);
	}
	return integer(c, reply, what, t);
}

int lock_take(contender *c, const char *key, int ttl_ms, trouble *t) {
	draw_token(c);
	redisReply *reply = redisCommand(c->redis, "SET %s %s NX PX %d", key, c->token, ttl_ms);
	int result;
	if (reply == NULL)
		return give_up(t, "SET", c->redis->errstr);
	if (reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0)
		result = 1;
	else if (reply->type == REDIS_REPLY_NIL)
		result = 0;
	else
		result = give_up(t, "SET", reply->type == REDIS_REPLY_ERROR ? reply->str : "neither OK nor nil");
	freeReplyObject(reply);
	return result;
}

int lock_release(contender *c, const char *key, trouble *t) {
	return run_script(c, "release", t, release_sha, release_script, key, NULL);
}

int lock_extend(contender *c, const char *key, int ttl_ms, trouble *t) {
	char ttl[16];
	snprintf(ttl, sizeof ttl, "%d", ttl_ms);
	return run_script(c, "extend", t, extend_sha, extend_script, key, ttl);
}

int lock_held(contender *c, const char *key, trouble *t) {
	redisReply *reply = redisCommand(c->redis, "GET %s", key);
	int result;
	if (reply == NULL)
		return give_up(t, "GET", c->redis->errstr);
	if (reply->type == REDIS_REPLY_STRING)
		result = strcmp(reply->str, c->token) == 0;
	else if (reply->type == REDIS_REPLY_NIL)
		result = 0;
	else
		result = give_up(t, "GET", reply->type == REDIS_REPLY_ERROR ? reply->str : "neither string nor nil");
	freeReplyObject(reply);
	return result;
}

int scripts_flush(contender *c, trouble *t) {
	redisReply *reply = redisCommand(c->redis, "SCRIPT FLUSH");
	int result = 1;
	if (reply == NULL)
		return give_up(t, "SCRIPT FLUSH", c->redis->errstr);
	if (reply->type == REDIS_REPLY_ERROR)
		result = give_up(t, "SCRIPT FLUSH", reply->str);
	freeReplyObject(reply);
	return result;
}
