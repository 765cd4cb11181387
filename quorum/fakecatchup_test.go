package quorum

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What a fake master does with the scripts of a catch-up.

var catchUpScripts = map[*script]string{
	leaseScript: "lease", pageScript: "page", readingScript: "reading", heldScript: "held",
	copyScript: "copy", returnScript: "return",
}

// runs tells that a command runs the script.
func runs(args []string, s *script) bool {
	return len(args) > 3 && (args[0] == "EVAL" && args[1] == s.text || args[0] == "EVALSHA" && args[1] == s.sha)
}

func (m *fakeMaster) digest(name string) string {
	k, ok := m.key(name)
	sum := sha1.Sum([]byte(k.value))
	switch {
	case !ok:
		return ""
	case k.hash:
		return "hash#" + hex.EncodeToString(sum[:])
	case len(k.value) <= 64:
		return toldWhole + k.value
	}
	return "string#" + hex.EncodeToString(sum[:])
}

// catchUp carries out what is one of these scripts.
func (m *fakeMaster) catchUp(args []string) (reply string, ok bool) {
	for s, name := range catchUpScripts {
		if !runs(args, s) {
			continue
		}
		if args[0] == "EVALSHA" && m.scripts[s.sha] == nil {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n", true
		}
		m.scripts[s.sha] = s
		n, _ := strconv.Atoi(args[2])
		keys, argv := args[3:3+n], args[3+n:]
		m.note(append([]string{name}, keys[1:]...))
		if string(nonceOf(m.marker())) != argv[0] {
			return integer(saysOtherNonce), true
		}
		if s == copyScript || s == returnScript {
			if l, _ := m.key(keys[1]); l.value != argv[1] {
				return integer(saysOtherLease), true
			}
			m.expire(keys[1], m.keys[keys[1]], argv[2])
			return m.giveOrTake(s, keys[2:], argv[3:]), true
		}
		switch s {
		case leaseScript:
			return m.lease(argv), true
		case pageScript:
			return m.page(argv), true
		case heldScript:
			return array(bulk(m.holds(keys[1:], argv[1:]))), true
		}
		return m.readings(keys[1:], argv), true
	}
	return "", false
}

func (m *fakeMaster) lease(argv []string) string {
	if l, ok := m.key(catchUpLease); ok && !strings.HasPrefix(l.value, argv[3]) {
		return integer(saysOtherLease)
	}
	m.expire(catchUpLease, fakeKey{value: argv[1]}, argv[2])
	return integer(1)
}

func (m *fakeMaster) page(argv []string) string {
	names := m.alive()
	cursor, _ := strconv.ParseUint(argv[1], 10, 64)
	count, _ := strconv.Atoi(argv[2])
	names = slices.DeleteFunc(names, func(name string) bool { return m.bucket(name) <= cursor })
	next := "0"
	if len(names) > count {
		names = names[:count]
		next = strconv.FormatUint(m.bucket(names[count-1]), 10)
	}
	page := []string{bulk(next)}
	for _, name := range names {
		if !strings.HasPrefix(name, argv[3]) {
			page = append(page, bulk(name))
		}
	}
	return array(page...)
}

func (m *fakeMaster) readings(keys, argv []string) string {
	most, _ := strconv.Atoi(argv[1])
	var ttls []string
	var digests, payloads []string
	size := 0
	for _, name := range keys {
		if size > most {
			break
		}
		k, ok := m.key(name)
		d, left := m.digest(name), int64(-2)
		if ok {
			left = m.pttl(k)
		}
		digests, ttls = append(digests, bulk(d)), append(ttls, fmt.Sprint(left))
		size += len(d)
		if ok && !strings.HasPrefix(d, toldWhole) {
			payload := k.value
			if k.hash {
				payload = "dump of " + payload
			}
			payloads = append(payloads, bulk(payload))
			size += len(payload)
		}
	}
	return array(slices.Concat([]string{bulk(strings.Join(ttls, " "))}, digests, payloads)...)
}

func (m *fakeMaster) holds(keys, digests []string) string {
	letters := make([]byte, len(keys))
	for i, name := range keys {
		switch m.digest(name) {
		case digests[i]:
			letters[i] = '='
		case "":
			letters[i] = '-'
		default:
			letters[i] = '#'
		}
	}
	return string(letters)
}

func (m *fakeMaster) giveOrTake(s *script, keys, argv []string) string {
	if s == returnScript {
		n := 0
		for i, name := range keys {
			if m.digest(name) == argv[i] {
				delete(m.keys, name)
				n++
			}
		}
		return array(integer(int64(n)))
	}
	said, failure := "", ""
	payloads := argv[2*len(keys):]
	for i, name := range keys {
		d, ttl := argv[2*i], argv[2*i+1]
		value, whole := strings.CutPrefix(d, toldWhole)
		if !whole {
			value, payloads = payloads[0], payloads[1:]
		}
		left, _ := strconv.ParseInt(ttl, 10, 64)
		if own, ok := m.key(name); ok && m.digest(name) == d && (own.until == 0 || left >= 0 && m.pttl(own) >= left) {
			said += "="
			continue
		}
		k := fakeKey{value: value}
		if !strings.HasPrefix(d, "string") {
			if k.value, k.hash = strings.CutPrefix(value, "dump of "); !k.hash || m.version == "6.2.14" {
				said, failure = said+"!", "ERR DUMP payload version or checksum are wrong"
				continue
			}
		}
		m.keys[name] = k
		if left >= 0 {
			m.expire(name, k, ttl)
		}
		said += "+"
	}
	return array(bulk(said), bulk(failure))
}
