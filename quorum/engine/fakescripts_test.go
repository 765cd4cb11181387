package engine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// What a fake master does with our scripts. Its lock is held throughout.

// minds carries out the scripts that mind the marker.
func (m *fakeMaster) minds(args []string) string {
	switch args[1] {
	case master.MarkScript.Text:
		if m.marker() == args[4] || args[4] != "" && strings.HasPrefix(m.marker(), args[4]) {
			m.keys[quorum.MarkerKey] = fakeKey{value: args[5]}
		}
		return bulk(m.marker())
	case master.LossScript.Text:
		return m.loseAll(args[4:])
	case elsewhereScript.Text:
		return bulk(m.elsewhere(args[4:]))
	case flushScript.Text:
		m.note(args[5:])
		m.flushUnmarked(strings.EqualFold(args[5], "FLUSHALL"))
		return "+OK\r\n"
	}
	return m.first(args)
}

// known are the scripts that a fake master can run.
var known = append(slices.Clone(scripts), clientsScripts()...)

func clientsScripts() (list []*master.Script) {
	for s := range effects {
		list = append(list, journal.FormOf(s).Own())
	}
	return list
}

// withoutOurs leaves out our own keys, which follow the key of what takes something
// back.
func withoutOurs(args []string) []string {
	if len(args) > 2 && args[1] == quorum.MarkerKey && args[2] == catchup.LeaseKey {
		return slices.Concat(args[:1], args[3:])
	}
	return args
}

// same does what the function in sameNonce does.
func (m *fakeMaster) same(nonce string) bool {
	_, leased := m.key(catchup.LeaseKey)
	return nonce == "" || string(marker.NonceOf(m.marker())) == nonce ||
		!leased && strings.Contains(m.marker(), fmt.Sprintf("%q:%q", "was", nonce))
}

func (m *fakeMaster) learn(sha string) {
	for _, s := range known {
		if s.SHA == sha {
			m.scripts[sha] = s
		}
	}
}

// told is a command as the log tells it: scripts by their names.
func told(args []string) string {
	names := map[*master.Script]string{
		releaseScript: "release", extendScript: "extend", readScript: "read",
		removeScript: "remove", takeBackScript: "takeback", writeScript: "write", putBackScript: "putback",
		latchScript: "latch", letGoScript: "let go", journal.FormOf(lockScript).Own(): "lock", journal.FormOf(takeStep).Own(): "take by step", journal.FormOf(renewStep).Own(): "renew by step", journal.FormOf(freeStep).Own(): "free by step",
		journal.FormOf(takeHash).Own(): "take hash", journal.FormOf(renewHash).Own(): "renew hash", journal.FormOf(freeHash).Own(): "free hash", acquireScript: "acquire", expireIfScript: "expireif",
	}
	for s, name := range names {
		if strings.HasPrefix(args[0], "EVAL") && (args[1] == s.SHA || args[1] == s.Text) {
			args = append([]string{name}, withoutOurs(args[3:])...)
			break
		}
	}
	if args[0] == "EVAL" {
		args = append([]string{"a script"}, args[3:]...)
	}
	return strings.Join(args, " ")
}

// run does what our scripts do.
func (m *fakeMaster) run(s *master.Script, keys int, args []string) string {
	name := args[0]
	k, ok := m.key(name)
	switch s {
	case acquireScript:
		return m.setKey([]string{"SET", name, args[1], "NX", "GET", "PX", args[2]})
	case writeScript, expireIfScript:
		m.breaks(name)
		return m.write(name, args[1:])
	case putBackScript:
		return integer(m.putBack(name, args[1:]))
	case latchScript:
		return integer(m.endStep(name, args[1], nil, args[3:]))
	case letGoScript:
		return m.letsGo(args[1:keys], args[keys:])
	}
	if c := clientsScript(s); c != nil && c.Latches {
		return m.act(c, keys, args)
	} else if c != nil {
		reply, _ := m.journaled(c, "", args[:keys], args[keys+2:], false)
		return reply
	}
	switch s {
	case readScript, removeScript:
		if !ok {
			if s == removeScript {
				m.breaks(name)
			}
			return array(bulk("none"))
		}
		if s == removeScript {
			m.breaks(name)
			delete(m.keys, name)
		}
		if k.hash {
			return array(bulk(k.kind()), bulk(""), integer(m.pttl(k)))
		}
		return array(bulk("string"), bulk(k.value), integer(m.pttl(k)))
	}
	if k.hash {
		return fakeWrongType
	}
	switch {
	case s == takeBackScript:
		return integer(m.takeBack(name, args))
	case !ok:
		if s == releaseScript {
			m.breaks(name)
		}
		return integer(decide.SaysAbsent)
	case k.value != args[1]:
		if s == releaseScript {
			m.breaks(name)
		}
		return integer(decide.SaysOther)
	case s == releaseScript:
		m.breaks(name)
		delete(m.keys, name)
		return integer(m.pttl(k))
	}
	if args[2] == "" {
		k.until = 0
		m.keys[name] = k
	} else {
		m.expire(name, k, m.movedTo(k, args[2]))
	}
	return integer(1)
}

func (m *fakeMaster) takeBack(name string, args []string) int64 {
	k, ok := m.key(name)
	switch {
	case !ok || k.value != args[1]:
		return 0
	case !m.same(args[5]):
		return decide.SaysOtherNonce
	case !m.ends(k, args[2], args[3], args[4]):
		return decide.SaysOther
	}
	m.breaks(name)
	delete(m.keys, name)
	return 1
}

// ends does what the function in endsWithin does.
func (m *fakeMaster) ends(k fakeKey, least, most, eternal string) bool {
	if k.until == 0 {
		return eternal == "1"
	}
	from, _ := strconv.ParseInt(least, 10, 64)
	to, _ := strconv.ParseInt(most, 10, 64)
	at := k.until / int64(time.Millisecond)
	return from <= at && at <= to
}

// movedTo does what the function in movesExpiry does.
func (m *fakeMaster) movedTo(k fakeKey, ms string) string {
	n, _ := strconv.ParseInt(ms, 10, 64)
	p := m.pttl(k)
	switch d := n - p; {
	case k.until == 0, d > 50, d < -101:
	case d < -50:
		n = p
	default:
		n = p + 51
	}
	return strconv.FormatInt(n, 10)
}

// dump stands for what DUMP answers: the key without its expiry.
func (m *fakeMaster) dump(name string) (dump string, pttl int64) {
	k, ok := m.key(name)
	switch {
	case !ok:
		return "", -2
	case k.hash && k.kind() == "list":
		return listDump(m.list(name)), m.pttl(k)
	case k.hash:
		return hashDump(k.value), m.pttl(k)
	}
	return stringDump(k.value), m.pttl(k)
}

// stringDump has the shape of Redis's: a type, a length, and a version and checksum at the end.
func stringDump(value string) string {
	length := binary.BigEndian.AppendUint32([]byte{0x80}, uint32(len(value)))
	return "\x00" + string(length) + value + dumpEnd
}

func hashDump(value string) string { return "\x04" + value + dumpEnd }

const dumpEnd = "\x09\x00checksum"

// restored is the key that a dump is of; ok is false if that is none.
func restored(dump string) (k fakeKey, ok bool) {
	if list := listOf(dump); list != nil {
		return fakeKey{value: fakeList + strings.Join(list, ","), hash: true}, true
	}
	content, ok := strings.CutSuffix(dump, dumpEnd)
	if !ok {
		return k, false
	}
	if content[0] == '\x04' {
		return fakeKey{value: content[1:], hash: true}, true
	}
	return fakeKey{value: content[1+5:]}, true
}

func (m *fakeMaster) write(name string, command []string) string {
	before, left := m.dump(name)
	if k, ok := m.key(name); ok && command[0] == "PEXPIRE" && len(command) == 3 && command[2][0] != '-' {
		command = []string{"PEXPIRE", name, m.movedTo(k, command[2])}
	}
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
	_, now := m.dump(name)
	return array(bulk(reply[:1]), value, bulk(before), integer(left), integer(now))
}

func (m *fakeMaster) putBack(name string, args []string) int64 {
	if !m.same(args[6]) {
		return decide.SaysOtherNonce
	}
	now, _ := m.dump(name)
	k, _ := m.key(name)
	if now == "" || now != args[0] && now != stringDump(args[0]) || !m.ends(k, args[3], args[4], args[5]) {
		return 0
	}
	m.breaks(name)
	m.becomes(name, args[1], args[2], args[7], args[8])
	return 1
}

// becomes has a key be what it was, or should be, for as long as the function in leftSince says.
func (m *fakeMaster) becomes(name, dump, left, moved, ended string) {
	_, pttl := m.dump(name)
	m.touch(name)
	delete(m.keys, name)
	k, ok := restored(dump)
	eternal := left == "0"
	if by, err := strconv.ParseInt(moved, 10, 64); err == nil {
		left, eternal = strconv.FormatInt(pttl-by, 10), false
	} else if at, err := strconv.ParseInt(ended, 10, 64); err == nil {
		left, eternal = strconv.FormatInt(at-m.now()/int64(ms), 10), false
	}
	switch {
	case !ok:
	case eternal:
		m.keys[name] = k
	default:
		m.expire(name, k, left)
	}
}
