package engine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum/decide"
)

// What a fake master does with lists. The value of one is its elements with commas between them,
// behind what no hash begins with.

const fakeList = "[]"

// kind is that of what is no string, as TYPE has it.
func (k fakeKey) kind() string {
	if strings.HasPrefix(k.value, fakeList) {
		return "list"
	}
	return "hash"
}

func (m *fakeMaster) list(name string) []string {
	k, held := m.key(name)
	if !held || !k.hash || k.kind() != "list" {
		return nil
	}
	return strings.Split(k.value[len(fakeList):], ",")
}

// elements are those of a list.
func (m *fakeMaster) elements(name string) (list []string) {
	m.locked(func() { list = m.list(name) })
	return list
}

func (m *fakeMaster) setList(name string, list []string) {
	m.touch(name)
	if len(list) == 0 {
		delete(m.keys, name)
		return
	}
	k, _ := m.key(name)
	m.keys[name] = fakeKey{value: fakeList + strings.Join(list, ","), until: k.until, hash: true}
}

// listDump is a list as Redis has dumped it first, element by element.
func listDump(list []string) string {
	b := binary.BigEndian.AppendUint32([]byte{1, 0x80}, uint32(len(list)))
	for _, element := range list {
		b = append(binary.BigEndian.AppendUint32(append(b, 0x80), uint32(len(element))), element...)
	}
	return string(b) + dumpEnd
}

// listOf are the elements of such a dump, whoever has put its end there; nil if it is none.
func listOf(dump string) (list []string) {
	if len(dump) < len(dumpEnd)+6 || dump[0] != 1 {
		return nil
	}
	for rest := dump[6 : len(dump)-len(dumpEnd)]; len(rest) > 5; {
		n := 5 + int(binary.BigEndian.Uint32([]byte(rest[1:5])))
		list = append(list, rest[5:n])
		rest = rest[n:]
	}
	return list
}

// doOnList does what is about lists; ok is false for all else.
func (m *fakeMaster) doOnList(args []string) (reply string, ok bool) {
	switch strings.ToUpper(args[0]) {
	case "RPUSH":
		list := append(m.list(args[1]), args[2:]...)
		m.setList(args[1], list)
		return integer(int64(len(list))), true
	case "LPUSH":
		list := m.list(args[1])
		for _, element := range args[2:] {
			list = slices.Insert(list, 0, element)
		}
		m.setList(args[1], list)
		return integer(int64(len(list))), true
	case "LPOP":
		if element, some := m.pop(args[1], true); some {
			return bulk(element), true
		}
		return fakeNil, true
	case "LMPOP":
		n, _ := strconv.Atoi(args[1])
		for _, name := range args[2 : 2+n] {
			if element, some := m.pop(name, strings.EqualFold(args[2+n], "LEFT")); some {
				return array(bulk(name), array(bulk(element))), true
			}
		}
		return "*-1\r\n", true
	case "LMOVE":
		element, some := m.pop(args[1], strings.EqualFold(args[3], "LEFT"))
		if !some {
			return fakeNil, true
		}
		at, list := 0, m.list(args[2])
		if strings.EqualFold(args[4], "RIGHT") {
			at = len(list)
		}
		m.setList(args[2], slices.Insert(list, at, element))
		return bulk(element), true
	}
	return "", false
}

func (m *fakeMaster) pop(name string, left bool) (element string, some bool) {
	list := m.list(name)
	switch {
	case len(list) == 0:
		return "", false
	case left:
		element, list = list[0], list[1:]
	default:
		element, list = list[len(list)-1], list[:len(list)-1]
	}
	m.setList(name, list)
	return element, true
}

// carriesOut is what a step does that carries out the command that its arguments are, on lists.
func carriesOut(m *fakeMaster, _ string, argv []string) effect {
	var does effect
	reply, _ := m.doOnList(argv)
	if does.take(reply); does.shape != "_" {
		does.flags = decide.FlagWrote
	}
	return does
}

// takesForWaiter is what a step does by which who waits takes an element, and hears how many there are left.
func takesForWaiter(m *fakeMaster, name string, argv []string) effect {
	does := carriesOut(m, name, argv)
	if does.shape != "_" {
		does.shape = "*2;" + does.shape + ":"
		does.value = append(does.value, fmt.Sprint(len(m.list(name))))
	}
	return does
}

// findsNothing is what who waits behind others looks for.
func findsNothing(*fakeMaster, string, []string) effect { return saysNil }

// take takes in a master's reply, and returns what follows it.
func (e *effect) take(reply string) (rest string) {
	line, rest, _ := strings.Cut(reply, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch kind := line[:1]; {
	case n < 0 && kind != ":":
		e.shape += "_"
	case kind == "$":
		e.shape, e.value = e.shape+kind, append(e.value, rest[:n])
		rest = rest[n+2:]
	case kind == "*":
		e.shape += line + ";"
		for range n {
			rest = e.take(rest)
		}
	default:
		e.shape, e.value = e.shape+kind, append(e.value, line[1:])
	}
	return rest
}
