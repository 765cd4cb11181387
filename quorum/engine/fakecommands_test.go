package engine

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Which commands a fake master knows, and what it does with those that are not about keys. Its
// lock is held throughout.

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
	if reply, ok := m.doOnConnection(args, id); ok {
		return reply
	}
	if reply, ok := m.doHousekeeping(args); ok {
		return reply
	}
	if reply, ok := m.catchUp(args); ok {
		return reply
	}
	m.note(args)
	if reply, ok := m.doScript(args); ok {
		return reply
	}
	if reply, ok := m.doOnDatabase(args); ok {
		return reply
	}
	if reply, ok := m.doOnList(args); ok {
		return reply
	}
	return m.doOnKey(args)
}

// doOnConnection does what concerns the connection that asks; ok is false for all else.
func (m *fakeMaster) doOnConnection(args []string, id int64) (reply string, ok bool) {
	switch strings.ToUpper(args[0]) {
	case "HELLO":
		return array(bulk("server"), bulk("redis")), true
	case "AUTH":
		if args[len(args)-1] != m.password {
			return "-WRONGPASS invalid username-password pair or user is disabled.\r\n", true
		}
		return "+OK\r\n", true
	case "CLIENT":
		return m.client(args, id), true
	case "SUBSCRIBE":
		m.note(args)
		return m.subscribe(args[1], id), true
	case "PUBLISH":
		m.note(args)
		return m.publish(args[1], args[2]), true
	case "SELECT":
		m.note(args)
		db, ok := m.selectable(args[1])
		if !ok {
			return fakeOutOfRange, true
		}
		m.selected[id] = db
		return "+OK\r\n", true
	case "PTTL":
		return m.watched(args[1], id)
	case "PING":
		return m.ping(id), true
	}
	return "", false
}

// doHousekeeping does what concerns the server, its scripts and its marker, of which the log
// mostly does not tell; ok is false for all else.
func (m *fakeMaster) doHousekeeping(args []string) (reply string, ok bool) {
	switch strings.ToUpper(args[0]) {
	case "SWAPDB":
		m.note(args)
		a, ok := m.selectable(args[1])
		b, too := m.selectable(args[2])
		if !ok || !too {
			return fakeOutOfRange, true
		}
		m.swap(a, b)
		return "+OK\r\n", true
	case "INFO":
		return bulk("run_id:" + m.runID + "\r\nredis_version:" + m.version + "\r\n" +
			"role:master\r\nloading:0\r\ncluster_enabled:0\r\n" +
			fmt.Sprintf("evicted_keys:%d\r\n", m.evicted) + m.info), true
	case "TIME":
		now := m.now()
		return array(bulk(fmt.Sprint(now/1e9)), bulk(fmt.Sprint(now%1e9/1000))), true
	case "SCRIPT":
		if args[1] == "FLUSH" {
			clear(m.scripts)
			return "+OK\r\n", true
		}
		sum := sha1.Sum([]byte(args[2]))
		sha := hex.EncodeToString(sum[:])
		m.learn(sha)
		return bulk(sha), true
	case "GETRANGE":
		return bulk(m.marker()[:min(len(m.marker()), marker.NonceLength)]), true
	case "CONFIG":
		return array(bulk(args[2]), bulk(m.settings[args[2]])), true
	case "GET":
		if args[1] == quorum.MarkerKey && m.marker() != "" {
			return bulk(m.marker()), true
		}
	case "EVAL":
		if reply := m.minds(args); reply != "" {
			return reply, true
		}
	}
	return "", false
}

// doScript runs a script; ok is false if it is none of ours, or no script.
func (m *fakeMaster) doScript(args []string) (reply string, ok bool) {
	switch strings.ToUpper(args[0]) {
	case "EVALSHA":
		s := m.scripts[args[1]]
		if s == nil {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n", true
		}
		return m.run(s, keysOf(args), withoutOurs(args[3:])), true
	case "EVAL":
		for _, s := range known {
			if s.Text == args[1] {
				m.learn(s.SHA)
				return m.run(s, keysOf(args), withoutOurs(args[3:])), true
			}
		}
	}
	return "", false
}

// keysOf is how many keys a script is given.
func keysOf(args []string) int {
	n, _ := strconv.Atoi(args[2])
	return n
}

func (m *fakeMaster) marker() string { return m.keys[quorum.MarkerKey].value }

// note writes the log.
func (m *fakeMaster) note(args []string) {
	if !m.quiet {
		m.log = append(m.log, told(args))
	}
}
