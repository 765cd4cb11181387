package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// What a fake master does with commands about keys. Its lock is held throughout.

type fakeKey struct {
	value string
	until int64 // by the master's clock in Unix nanoseconds; 0: no expiry
	hash  bool  // it is no string: a hash, or a list (fakelists_test.go)
}

// now is the master's own clock.
func (m *fakeMaster) now() int64 {
	rate := m.rate
	if rate == 0 {
		rate = 1
	}
	return m.born.UnixNano() + int64(m.jumped) + int64(float64(time.Since(m.born))*rate)
}

func (m *fakeMaster) key(name string) (fakeKey, bool) {
	k, ok := m.keys[name]
	if ok && k.until != 0 && k.until <= m.now() {
		delete(m.keys, name)
		return fakeKey{}, false
	}
	return k, ok
}

// pttl is the remaining ttl in milliseconds.
func (m *fakeMaster) pttl(k fakeKey) int64 {
	if k.until == 0 {
		return -1
	}
	return (k.until - m.now()) / int64(time.Millisecond)
}

const (
	fakeNil       = "$-1\r\n"
	fakeWrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
)

// doOnDatabase does what concerns all keys of a database; ok is false for all else.
func (m *fakeMaster) doOnDatabase(args []string) (reply string, ok bool) {
	switch strings.ToUpper(args[0]) {
	case "SCAN":
		return m.scan(args), true
	case "DBSIZE":
		return integer(int64(len(m.alive()))), true
	case "RANDOMKEY":
		for _, name := range m.alive() {
			return bulk(name), true
		}
		return fakeNil, true
	case "FLUSHALL":
		m.flushAll()
		return "+OK\r\n", true
	case "FLUSHDB":
		clear(m.keys)
		return "+OK\r\n", true
	}
	return "", false
}

func (m *fakeMaster) doOnKey(args []string) string {
	switch strings.ToUpper(args[0]) {
	case "GET":
		k, ok := m.key(args[1])
		switch {
		case !ok:
			return fakeNil
		case k.hash:
			return fakeWrongType
		}
		return bulk(k.value)
	case "SET":
		if m.version < "7" && slices.Contains(args, "NX") && slices.Contains(args, "GET") {
			return "-ERR syntax error\r\n"
		}
		return m.setKey(args)
	case "EXISTS":
		n := 0
		for _, name := range args[1:] {
			if _, ok := m.key(name); ok {
				n++
			}
		}
		return integer(int64(n))
	case "PERSIST":
		k, ok := m.key(args[1])
		if !ok || k.until == 0 {
			return integer(0)
		}
		k.until = 0
		m.keys[args[1]] = k
		m.touch(args[1])
		return integer(1)
	case "PEXPIRE":
		k, ok := m.key(args[1])
		if !ok {
			return integer(0)
		}
		if n, _ := strconv.ParseInt(args[2], 10, 64); len(args) > 3 && args[3] == "GT" && (k.until == 0 || m.now()+n*int64(time.Millisecond) <= k.until) {
			return integer(0)
		}
		m.expire(args[1], k, args[2])
		return integer(1)
	}
	return "-ERR unknown command\r\n"
}

func (m *fakeMaster) expire(name string, k fakeKey, ms string) {
	m.touch(name)
	n, _ := strconv.ParseInt(ms, 10, 64)
	if n <= 0 {
		delete(m.keys, name)
		return
	}
	k.until = m.now() + n*int64(time.Millisecond)
	m.keys[name] = k
}

func (m *fakeMaster) setKey(args []string) string {
	old, exists := m.key(args[1])
	var nx, xx, get bool
	px := ""
	for i := 3; i < len(args); i++ {
		switch args[i] {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "GET":
			get = true
		case "PX":
			i++
			px = args[i]
		}
	}
	if get && old.hash {
		return fakeWrongType
	}
	if !(nx && exists || xx && !exists) {
		k := fakeKey{value: args[2]}
		m.keys[args[1]] = k
		m.touch(args[1])
		if px != "" {
			m.expire(args[1], k, px)
		}
		if !get {
			return "+OK\r\n"
		}
	}
	if get && exists {
		return bulk(old.value)
	}
	return fakeNil
}
