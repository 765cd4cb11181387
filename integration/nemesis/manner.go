package main

import (
	"strconv"
	"strings"
)

// manner is how clients lock a key, which its number tells: all lock it alike.
type manner struct {
	db     int  // the database that it is in
	hashed bool // as a hash with the token as its field, by scripts that only a journal can run
}

// The databases in which keys are.
var databases = []string{"0", "1", "5"}

func mannerOf(key string) manner {
	n, _ := strconv.Atoi(key[strings.LastIndexByte(key, '-')+1:])
	return manner{db: n % len(databases), hashed: n%2 == 1}
}

// The scripts by which lock libraries release and extend what SET NX PX has set.
const (
	releaseScript = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	extendScript  = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
)

// Those by which others lock with a hash.
const (
	hashedAcquire = `if redis.call("exists",KEYS[1]) == 0 then redis.call("hset",KEYS[1],ARGV[1],1) redis.call("pexpire",KEYS[1],ARGV[2]) return 1 else return 0 end`
	hashedExtend  = `if redis.call("hexists",KEYS[1],ARGV[1]) == 1 then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
	hashedRead    = `return redis.call("hexists",KEYS[1],ARGV[1])`
	hashedRelease = `if redis.call("hexists",KEYS[1],ARGV[1]) == 1 then return redis.call("del",KEYS[1]) else return 0 end`
)

func (m manner) acquire(key, token, ms string) []string {
	if m.hashed {
		return []string{"EVAL", hashedAcquire, "1", key, token, ms}
	}
	return []string{"SET", key, token, "NX", "PX", ms}
}

func (m manner) extend(key, token, ms string) []string {
	if m.hashed {
		return []string{"EVAL", hashedExtend, "1", key, token, ms}
	}
	return []string{"EVAL", extendScript, "1", key, token, ms}
}

func (m manner) read(key, token string) []string {
	if m.hashed {
		return []string{"EVAL", hashedRead, "1", key, token}
	}
	return []string{"GET", key}
}

func (m manner) release(key, token string) []string {
	if m.hashed {
		return []string{"EVAL", hashedRelease, "1", key, token}
	}
	return []string{"EVAL", releaseScript, "1", key, token}
}
