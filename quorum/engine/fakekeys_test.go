package engine

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// What a fake master does with commands. Its lock is held throughout.

type fakeKey struct {
	value string
	until int64 // by the master's clock in Unix nanoseconds; 0: no expiry
	hash  bool
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

const fakeReadOnly = "-READONLY You can't write against a read only replica.\r\n"

// writes tells that a replica refuses a command.
func writes(args []string) bool {
	switch args[0] {
	case "SET", "PEXPIRE", "PERSIST", "SWAPDB", "FLUSHALL", "FLUSHDB":
		return true
	case "EVAL", "EVALSHA":
		return args[1] != readScript.SHA && args[1] != readScript.Text
	}
	return false
}

func bulk(s string) string     { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
func integer(n int64) string   { return fmt.Sprintf(":%d\r\n", n) }
func array(s ...string) string { return fmt.Sprintf("*%d\r\n%s", len(s), strings.Join(s, "")) }

func (m *fakeMaster) do(args []string, id int64) string {
	if slices.ContainsFunc(rights, func(right []string) bool { return slices.Equal(args, right) }) {
		return integer(0)
	}
	switch strings.ToUpper(args[0]) {
	case "HELLO":
		return array(bulk("server"), bulk("redis"))
	case "AUTH":
		if args[len(args)-1] != m.password {
			return "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
		}
		return "+OK\r\n"
	case "CLIENT":
		return m.client(args, id)
	case "SUBSCRIBE":
		m.note(args)
		return m.subscribe(args[1], id)
	case "PUBLISH":
		m.note(args)
		return m.publish(args[1], args[2])
	case "SELECT":
		m.note(args)
		db, ok := m.selectable(args[1])
		if !ok {
			return fakeOutOfRange
		}
		m.selected[id] = db
		return "+OK\r\n"
	case "SWAPDB":
		m.note(args)
		a, ok := m.selectable(args[1])
		b, too := m.selectable(args[2])
		if !ok || !too {
			return fakeOutOfRange
		}
		m.swap(a, b)
		return "+OK\r\n"
	case "PING":
		return m.ping(id)
	case "INFO":
		return bulk("run_id:" + m.runID + "\r\nredis_version:" + m.version + "\r\n" +
			"role:master\r\nloading:0\r\ncluster_enabled:0\r\n" +
			fmt.Sprintf("evicted_keys:%d\r\n", m.evicted) + m.info)
	case "TIME":
		now := m.now()
		return array(bulk(fmt.Sprint(now/1e9)), bulk(fmt.Sprint(now%1e9/1000)))
	case "SCRIPT":
		if args[1] == "FLUSH" {
			clear(m.scripts)
			return "+OK\r\n"
		}
		sum := sha1.Sum([]byte(args[2]))
		sha := hex.EncodeToString(sum[:])
		m.learn(sha)
		return bulk(sha)
	}
	switch strings.ToUpper(args[0]) {
	case "GETRANGE":
		return bulk(m.marker()[:min(len(m.marker()), marker.NonceLength)])
	case "CONFIG":
		return array(bulk(args[2]), bulk(m.settings[args[2]]))
	case "GET":
		if args[1] == quorum.MarkerKey && m.marker() != "" {
			return bulk(m.marker())
		}
	case "EVAL":
		if reply := m.minds(args); reply != "" {
			return reply
		}
	}
	if reply, ok := m.catchUp(args); ok {
		return reply
	}
	m.note(args)
	switch strings.ToUpper(args[0]) {
	case "EVALSHA":
		s := m.scripts[args[1]]
		if s == nil {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
		}
		return m.run(s, withoutOurs(args[3:]))
	case "EVAL":
		for _, s := range known {
			if s.Text == args[1] {
				m.learn(s.SHA)
				return m.run(s, withoutOurs(args[3:]))
			}
		}
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
	case "SCAN":
		return m.scan(args)
	case "DBSIZE":
		return integer(int64(len(m.alive())))
	case "RANDOMKEY":
		for _, name := range m.alive() {
			return bulk(name)
		}
		return fakeNil
	case "FLUSHALL":
		m.flushAll()
		return "+OK\r\n"
	case "FLUSHDB":
		clear(m.keys)
		return "+OK\r\n"
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

func (m *fakeMaster) marker() string { return m.keys[quorum.MarkerKey].value }

// note writes the log.
func (m *fakeMaster) note(args []string) {
	if !m.quiet {
		m.log = append(m.log, told(args))
	}
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
