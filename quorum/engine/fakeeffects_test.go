package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// effect is what a script has done to its key: flags, and its reply.
type effect struct {
	flags int64
	shape string
	value []string
}

func says(flags int64, shape string, value ...string) effect { return effect{flags, shape, value} }

var (
	saysNil    = says(0, "_")
	saysZero   = says(0, ":", "0")
	wrongType  = says(0, "-", "WRONGTYPE Operation against a key holding the wrong kind of value")
	hasWritten = says(decide.FlagWrote, "+", "OK")
)

var effects = map[*quorum.Script]func(m *fakeMaster, name string, argv []string) effect{
	lockScript:  takesString,
	ownScript:   ownsString("1"),
	otherScript: ownsString("2"),
	namesDelete: ownsString("2"),
	partScript: func(m *fakeMaster, name string, argv []string) effect {
		own, _, _ := strings.Cut(argv[0], "|")
		return ownsString("1")(m, name, []string{own, argv[1]})
	},
	keyScript: func(m *fakeMaster, name string, argv []string) effect { // its second key is a
		return ownsString("2")(m, name, []string{"a", argv[len(argv)-1]})
	},
	okScript: func(m *fakeMaster, name string, argv []string) effect {
		if k, held := m.key(name); held && k.value == argv[0] {
			return says(0, "$", "OK")
		}
		return takesString(m, name, argv)
	},
	takeStep: takesString,
	tellStep: func(m *fakeMaster, name string, argv []string) effect {
		if _, held := m.key(name); held || len(argv) < 6 {
			return looksAtString(m, name, argv)
		}
		return takesString(m, name, []string{argv[2], argv[5]})
	},
	tellStep.ReadOnly(): looksAtString,
	seizeScript:         seizesString,
	seizeStep:           seizesString,
	renewStep: func(m *fakeMaster, name string, argv []string) effect {
		switch k, held := m.key(name); {
		case k.hash:
			return wrongType
		case !held || k.value != argv[0]:
			return saysZero
		}
		m.expire(name, m.keys[name], paddedText(argv[1]))
		return says(decide.FlagWrote, ":", "1")
	},
	freeStep:   freesString,
	freeScript: freesString,
	clearScript: func(m *fakeMaster, name string, _ []string) effect {
		delete(m.keys, name)
		return says(decide.FlagRemoved, "_")
	},
	looksScript: looksAtString,
	readsOnly:   looksAtString,
	takeHash: func(m *fakeMaster, name string, argv []string) effect {
		k, held := m.key(name)
		n, ours := k.field(argv[0])
		switch {
		case held && !k.hash:
			return wrongType
		case held && !ours:
			left := m.pttl(k)
			return says(0, "t", strconv.FormatInt(max(left-left/100-2, 1), 10))
		}
		m.hash(name, argv, n+1)
		return says(decide.FlagWrote, "_")
	},
	renewHash: func(m *fakeMaster, name string, argv []string) effect {
		k, held := m.key(name)
		n, ours := k.field(argv[0])
		switch {
		case held && !k.hash:
			return wrongType
		case !ours:
			return saysZero
		}
		m.hash(name, argv, n)
		return says(decide.FlagWrote, ":", "1")
	},
	freeHash: func(m *fakeMaster, name string, argv []string) effect {
		k, held := m.key(name)
		n, ours := k.field(argv[0])
		switch {
		case held && !k.hash:
			return wrongType
		case !ours:
			return saysNil
		case n > 1:
			m.hash(name, argv, n-1)
			return says(decide.FlagWrote, ":", "0")
		}
		delete(m.keys, name)
		return says(decide.FlagWrote+decide.FlagRemoved, ":", "1")
	},
	tellScript: func(_ *fakeMaster, _ string, argv []string) effect {
		does := saysNil
		for _, message := range argv {
			does.value = append(slices.Clip(does.value), "c", message) // which are none of the reply
		}
		return does
	},
	countStep: func(m *fakeMaster, name string, _ []string) effect { return m.countBy(name, 1) },
	downStep:  func(m *fakeMaster, name string, _ []string) effect { return m.countBy(name, -1) },
	watchStep: func(m *fakeMaster, name string, _ []string) effect { return m.countBy(countOf(name), 1) },
	mendStep:  func(*fakeMaster, string, []string) effect { return saysZero },
	pushStep:  pushes,
	popStep:   popsOff,
	setStep: func(m *fakeMaster, name string, argv []string) effect {
		k, _ := m.key(name)
		if k.value != argv[0] {
			return saysNil
		}
		k.value = argv[1]
		m.keys[name] = k
		return hasWritten
	},
}

func takesString(m *fakeMaster, name string, argv []string) effect {
	switch k, held := m.key(name); {
	case k.hash:
		return wrongType
	case held && k.value != argv[0]:
		return saysNil
	}
	return seizesString(m, name, argv)
}

func freesString(m *fakeMaster, name string, argv []string) effect {
	switch k, _ := m.key(name); {
	case k.hash:
		return wrongType
	case k.value != argv[0]:
		return saysZero
	}
	delete(m.keys, name)
	return says(decide.FlagRemoved, ":", "1")
}

func looksAtString(m *fakeMaster, name string, _ []string) effect {
	k, held := m.key(name)
	if !held {
		return saysNil
	}
	return says(0, "$", k.value)
}

func seizesString(m *fakeMaster, name string, argv []string) effect {
	m.expire(name, fakeKey{value: argv[0]}, paddedText(argv[1]))
	return hasWritten
}

// transacts carries a client's transaction on one key out, as execScript of package commands
// does.
func transacts(m *fakeMaster, name string, argv []string) effect {
	next := func() (word string) { word, argv = argv[0], argv[1:]; return word }
	number := func() int { n, _ := strconv.Atoi(next()); return n }
	for range number() {
		next() // which key it is
		k, held := m.key(name)
		if form, value := next(), next(); held != (form == "string") || k.hash || k.value != value {
			return saysNil
		}
	}
	n := number()
	does := says(0, fmt.Sprintf("*%d;", n))
	for range n {
		words := make([]string, number())
		for i := range words {
			words[i] = next()
		}
		if i := slices.Index([]string{"PEXPIRE", "SET"}, words[0]); i >= 0 {
			words[2*i+2] = paddedText(words[2*i+2])
		}
		reply := m.do(words, 0)
		kind, value, _ := strings.Cut(reply[:len(reply)-2], "\r\n")
		switch {
		case reply == fakeNil:
			does.shape += "_"
			continue
		case kind[0] != '$':
			value = kind[1:]
		}
		does.shape, does.value = does.shape+kind[:1], append(does.value, value)
		if reply == "+OK\r\n" || reply == integer(1) {
			does.flags = decide.FlagWrote
		}
	}
	return does
}

// digests tells of a key what only a key like it has.
func digests(m *fakeMaster, name string, _ []string) effect {
	text, _ := m.dump(name)
	return says(0, "$", dump.Fingerprint(text))
}

func (m *fakeMaster) countBy(name string, by int) effect {
	k, _ := m.key(name)
	n, _ := strconv.Atoi(k.value)
	k.value = strconv.Itoa(n + by)
	m.keys[name] = k
	return says(decide.FlagWrote, ":", k.value)
}

// field reads how often a hash says that its field's owner has taken the lock.
func (k fakeKey) field(owner string) (n int, there bool) {
	text, there := strings.CutPrefix(k.value, owner+":")
	n, _ = strconv.Atoi(text)
	return n, k.hash && there
}

// hash has a key be a hash with the one field argv[0], for argv[1] milliseconds.
func (m *fakeMaster) hash(name string, argv []string, n int) {
	m.expire(name, fakeKey{value: fmt.Sprintf("%s:%d", argv[0], n), hash: true}, paddedText(argv[1]))
}

// paddedText is a number of milliseconds as a journaled script sets it.
func paddedText(ms string) string {
	n, _ := strconv.ParseInt(ms, 10, 64)
	return strconv.FormatInt(n+n/100+2, 10)
}

// ownsString is takesString of what is not written where it is the caller's already.
func ownsString(said string) func(*fakeMaster, string, []string) effect {
	return func(m *fakeMaster, name string, argv []string) effect {
		switch k, held := m.key(name); {
		case k.hash:
			return wrongType
		case held && k.value == argv[0]:
			return says(0, ":", said)
		case held:
			return saysZero
		}
		m.expire(name, fakeKey{value: argv[0]}, paddedText(argv[1]))
		return says(decide.FlagWrote, ":", "1")
	}
}
