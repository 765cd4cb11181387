package quorum

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
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

func bulk(s string) string     { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
func integer(n int64) string   { return fmt.Sprintf(":%d\r\n", n) }
func array(s ...string) string { return fmt.Sprintf("*%d\r\n%s", len(s), strings.Join(s, "")) }

func (m *fakeMaster) do(args []string, id int64) string {
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
		if m.single && args[1] != "0" {
			return "-ERR DB index is out of range\r\n"
		}
		return "+OK\r\n"
	case "PING":
		return m.ping(id)
	case "INFO":
		return bulk("run_id:" + m.runID + "\r\nredis_version:" + m.version + "\r\n" +
			"role:master\r\nloading:0\r\ncluster_enabled:0\r\n" + m.info)
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
		return bulk(m.marker()[:min(len(m.marker()), nonceLength)])
	case "CONFIG":
		return array(bulk(args[2]), bulk(m.settings[args[2]]))
	case "GET":
		if args[1] == MarkerKey && m.marker() != "" {
			return bulk(m.marker())
		}
	case "EVAL":
		if reply := m.mark(args); reply != "" {
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
			if s.text == args[1] {
				m.learn(s.sha)
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
	case "FLUSHALL", "FLUSHDB":
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
		return integer(1)
	case "PEXPIRE":
		k, ok := m.key(args[1])
		if !ok {
			return integer(0)
		}
		m.expire(args[1], k, args[2])
		return integer(1)
	}
	return "-ERR unknown command\r\n"
}

func (m *fakeMaster) marker() string { return m.keys[MarkerKey].value }

// mark carries out the scripts that mind the marker.
func (m *fakeMaster) mark(args []string) string {
	switch args[1] {
	case markScript.text:
		if string(nonceOf(m.marker())) == args[4] {
			m.keys[MarkerKey] = fakeKey{value: args[5]}
		}
		return bulk(m.marker())
	case flushScript.text:
		m.note(args[5:])
		kept := m.marker()
		clear(m.keys)
		if kept != "" {
			m.keys[MarkerKey] = fakeKey{value: kept}
		}
		return "+OK\r\n"
	}
	return ""
}

// known are the scripts that a fake master can run.
var known = append(slices.Clone(scripts), lockScript.wrapped)

// withoutOurs leaves out our own keys, which follow the key of what takes something
// back.
func withoutOurs(args []string) []string {
	if len(args) > 2 && args[1] == MarkerKey && args[2] == catchUpLease {
		return slices.Concat(args[:1], args[3:])
	}
	return args
}

// same does what the function in sameNonce does.
func (m *fakeMaster) same(nonce string) bool {
	_, leased := m.key(catchUpLease)
	return nonce == "" || string(nonceOf(m.marker())) == nonce ||
		!leased && strings.Contains(m.marker(), fmt.Sprintf("%q:%q", "was", nonce))
}

func (m *fakeMaster) learn(sha string) {
	for _, s := range known {
		if s.sha == sha {
			m.scripts[sha] = s
		}
	}
}

// note writes the log.
func (m *fakeMaster) note(args []string) {
	if !m.quiet {
		m.log = append(m.log, told(args))
	}
}

// told is a command as the log tells it: scripts by their names.
func told(args []string) string {
	names := map[*script]string{
		releaseScript: "release", extendScript: "extend", readScript: "read",
		removeScript: "remove", takeBackScript: "takeback", writeScript: "write", putBackScript: "putback",
		lockScript.wrapped: "lock",
	}
	for s, name := range names {
		if strings.HasPrefix(args[0], "EVAL") && (args[1] == s.sha || args[1] == s.text) {
			args = append([]string{name}, withoutOurs(args[3:])...)
			break
		}
	}
	return strings.Join(args, " ")
}

func (m *fakeMaster) client(args []string, id int64) string {
	if args[1] == "ID" {
		return integer(id)
	}
	m.note(args)
	victim, _ := strconv.ParseInt(args[3], 10, 64)
	conn := m.conns[victim]
	if conn == nil {
		return integer(0)
	}
	delete(m.conns, victim)
	conn.Close()
	m.kills++
	return integer(1)
}

func (m *fakeMaster) expire(name string, k fakeKey, ms string) {
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
	major, _ := strconv.Atoi(m.version[:1])
	switch {
	case nx && get && major < 7:
		return "-ERR syntax error\r\n"
	case get && old.hash:
		return fakeWrongType
	}
	if !(nx && exists || xx && !exists) {
		k := fakeKey{value: args[2]}
		m.keys[args[1]] = k
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

// run does what our scripts do.
func (m *fakeMaster) run(s *script, args []string) string {
	name := args[0]
	k, ok := m.key(name)
	switch s {
	case writeScript:
		return m.write(name, args[1:])
	case putBackScript:
		return integer(m.putBack(name, args[1:]))
	case lockScript.wrapped:
		return m.lock(name, args[3], args[4])
	}
	switch s {
	case readScript, removeScript:
		if !ok {
			return array(bulk("none"))
		}
		if s == removeScript {
			delete(m.keys, name)
		}
		if k.hash {
			return array(bulk("hash"), bulk(""), integer(m.pttl(k)))
		}
		return array(bulk("string"), bulk(k.value), integer(m.pttl(k)))
	}
	if k.hash {
		return fakeWrongType
	}
	switch {
	case s == takeBackScript:
		if !ok || k.value != args[1] {
			return integer(0)
		}
		if !m.same(args[4]) {
			return integer(saysOtherNonce)
		}
		most, _ := strconv.ParseInt(args[2], 10, 64)
		if p := m.pttl(k); p < 0 && args[3] != "1" || p > most {
			return integer(0)
		}
		delete(m.keys, name)
		return integer(1)
	case !ok:
		return integer(saysAbsent)
	case k.value != args[1]:
		return integer(saysOther)
	case s == releaseScript:
		delete(m.keys, name)
		return integer(m.pttl(k))
	}
	if args[2] == "" {
		k.until = 0
		m.keys[name] = k
	} else {
		m.expire(name, k, args[2])
	}
	return integer(1)
}

// dump stands for what DUMP answers: the key without its expiry.
func (m *fakeMaster) dump(name string) (dump string, pttl int64) {
	k, ok := m.key(name)
	switch {
	case !ok:
		return "", -2
	case k.hash:
		return "hash", m.pttl(k)
	}
	return stringDump(k.value), m.pttl(k)
}

// stringDump has the shape of Redis's: a type, and a version and checksum at the end.
func stringDump(value string) string { return "\x00" + value + dumpEnd }

const dumpEnd = "\x0a\x00checksum"

func (m *fakeMaster) write(name string, command []string) string {
	before, left := m.dump(name)
	reply := m.do(command, 0)
	value := bulk(strings.TrimSuffix(reply[1:], "\r\n"))
	switch reply[0] {
	case '$':
		if value = reply; reply == fakeNil {
			reply, value = "_", bulk("")
		}
	case ':':
		value = reply
	}
	return array(bulk(reply[:1]), value, bulk(before), integer(left))
}

func (m *fakeMaster) putBack(name string, args []string) int64 {
	if !m.same(args[6]) {
		return saysOtherNonce
	}
	now, left := m.dump(name)
	most, _ := strconv.ParseInt(args[3], 10, 64)
	if now == "" || now != args[0] && now != stringDump(args[0]) || left < 0 && args[4] != "1" || left > most {
		return 0
	}
	delete(m.keys, name)
	if value, ok := strings.CutPrefix(args[1], "\x00"); ok {
		value = strings.TrimSuffix(value, dumpEnd)
		k := fakeKey{value: value}
		m.keys[name] = k
		if args[2] != "0" {
			m.expire(name, k, args[2])
		}
	}
	return 1
}
