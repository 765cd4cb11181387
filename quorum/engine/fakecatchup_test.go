package engine

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// What a fake master does with the scripts of a catch-up.

var catchUpScripts = map[*master.Script]string{
	catchup.LeaseScript: "lease", catchup.ReadingScript: "reading", catchup.HeldScript: "held",
	catchup.SiftScript: "sift", catchup.CopyScript: "copy", catchup.ReturnScript: "return", catchup.LookScript: "look", catchup.LayScript: "lay",
}

// runs tells that a command runs the script.
func runs(args []string, s *master.Script) bool {
	return len(args) > 3 && (args[0] == "EVAL" && args[1] == s.Text || args[0] == "EVALSHA" && args[1] == s.SHA)
}

func (m *fakeMaster) digest(name string) string {
	k, ok := m.key(name)
	switch {
	case !ok:
		return ""
	case k.hash:
		sum := sha1.Sum([]byte(k.value))
		return k.kind() + "#" + hex.EncodeToString(sum[:])
	}
	return catchup.DigestOf(k.value)
}

// catchUp carries out what is one of these scripts.
func (m *fakeMaster) catchUp(args []string) (reply string, ok bool) {
	for s, name := range catchUpScripts {
		if !runs(args, s) {
			continue
		}
		if args[0] == "EVALSHA" && m.scripts[s.SHA] == nil {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n", true
		}
		m.scripts[s.SHA] = s
		n, _ := strconv.Atoi(args[2])
		keys, argv := args[3:3+n], args[3+n:]
		switch s {
		case catchup.ReadingScript:
			m.note(append([]string{name}, keys...))
			return m.readings(keys, argv), true
		case catchup.HeldScript:
			m.note(append([]string{name}, keys...))
			return array(bulk(m.holds(keys, argv))), true
		case catchup.SiftScript:
			m.note(append([]string{name}, argv...))
			return array(bulk(strings.Repeat("=", len(argv)))), true // but see forbidKeys
		case catchup.LookScript:
			m.note(append([]string{name}, keys...))
			return m.looks(keys, argv[0] == "1"), true
		case catchup.LayScript:
			m.note(append([]string{name}, keys[1:]...))
			return m.lays(keys[1:], argv), true
		}
		m.note(append([]string{name}, keys[2:]...))
		if string(marker.NonceOf(m.marker())) != argv[0] {
			return integer(decide.SaysOtherNonce), true
		}
		if s == catchup.LeaseScript {
			return m.lease(argv), true
		}
		if l, _ := m.key(keys[1]); l.value != argv[1] {
			return integer(catchup.SaysOtherLease), true
		}
		m.expire(keys[1], m.keys[keys[1]], argv[2])
		return m.giveOrTake(s, keys[2:], argv[3:]), true
	}
	return "", false
}

func (m *fakeMaster) lease(argv []string) string {
	if l, ok := m.key(catchup.LeaseKey); ok && !strings.HasPrefix(l.value, argv[3]) {
		return integer(catchup.SaysOtherLease)
	}
	m.expire(catchup.LeaseKey, fakeKey{value: argv[1]}, argv[2])
	return integer(1)
}

func (m *fakeMaster) readings(keys, argv []string) string {
	most, _ := strconv.Atoi(argv[0])
	var told []string
	size, s := 0, m.scale()
	for _, name := range keys {
		if size > most || !s.fits(name) {
			break
		}
		k, ok := m.key(name)
		if s.tooLong(name) {
			told = append(told, integer(m.pttl(k)), array(integer(int64(len(k.value)))))
			continue
		}
		d, left := m.digest(name), int64(decide.SaysAbsent)
		if ok {
			left = m.pttl(k)
		}
		what, payload := bulk(""), k.value
		switch value, whole := strings.CutPrefix(d, "string="); {
		case whole:
			what = bulk(value)
		case ok:
			if k.hash {
				payload = "dump of " + payload
			}
			what = array(bulk(d), bulk(payload))
		}
		size += len(payload)
		told = append(told, integer(left), what)
	}
	return array(told...)
}

func (m *fakeMaster) holds(keys, digests []string) string {
	var letters []byte
	s := m.scale()
	for i, name := range keys {
		if !s.fits(name) {
			break
		}
		switch s.digest(name) {
		case digests[i]:
			letters = append(letters, '=')
		case "":
			letters = append(letters, '-')
		default:
			letters = append(letters, '#')
		}
	}
	return string(letters)
}

// scale weighs what one script reads.
type scale struct {
	*fakeMaster
	room  int
	begun bool
}

func (m *fakeMaster) scale() *scale { return &scale{fakeMaster: m, room: 2 << 20} }

func (s *scale) tooLong(name string) bool {
	k, _ := s.key(name)
	return len(k.value) > 16<<20
}

func (s *scale) fits(name string) bool {
	k, _ := s.key(name)
	n := len(k.value)
	if s.tooLong(name) {
		n = 0
	}
	if s.begun && n > s.room {
		return false
	}
	s.begun, s.room = true, s.room-n
	return true
}

func (s *scale) digest(name string) string {
	if s.tooLong(name) {
		return "?"
	}
	return s.fakeMaster.digest(name)
}

func (m *fakeMaster) giveOrTake(s *master.Script, keys, argv []string) string {
	if s == catchup.ReturnScript {
		n, looked := 0, 0
		s := m.scale()
		for i, name := range keys {
			if !s.fits(name) {
				break
			}
			looked++
			if s.digest(name) == argv[i] {
				m.breaks(name)
				delete(m.keys, name)
				n++
			}
		}
		return array(integer(int64(n)), integer(int64(looked)))
	}
	said, failure := "", ""
	kinds, argv := argv[0], argv[1:]
	payloads := argv[2*len(keys):]
	for i, name := range keys {
		m.breaks(name)
		d, ttl := argv[2*i], argv[2*i+1]
		value := d
		if kinds[i] == 'w' {
			d = "string=" + value
		} else {
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

func (m *fakeMaster) looks(keys []string, eternalOnly bool) string {
	var told []string
	s := m.scale()
	for _, name := range keys {
		digest := ""
		if !eternalOnly || m.endOf(name) == decide.SaysNoTTL {
			if !s.fits(name) {
				break
			}
			digest = s.digest(name)
		}
		told = append(told, bulk(digest), integer(m.endOf(name)))
	}
	return array(told...)
}

// endOf is when a key ends by the master's clock, in milliseconds.
func (m *fakeMaster) endOf(name string) int64 {
	switch k, ok := m.key(name); {
	case !ok:
		return decide.SaysAbsent
	case k.until == 0:
		return decide.SaysNoTTL
	default:
		return k.until / int64(ms)
	}
}

func (m *fakeMaster) lays(keys, argv []string) string {
	if string(marker.NonceOf(m.marker())) != argv[0] {
		return integer(decide.SaysOtherNonce)
	}
	n, looked := 0, 0
	s := m.scale()
	for i, name := range keys {
		if !s.fits(name) {
			break
		}
		looked++
		if d := s.digest(name); d != "" && d == argv[1+i] {
			m.breaks(name)
			delete(m.keys, name)
			n++
		}
	}
	return array(integer(int64(n)), integer(int64(looked)))
}
