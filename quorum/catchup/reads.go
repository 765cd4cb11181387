package catchup

import (
	"errors"
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// page reads the names of some keys behind a cursor; "0" is both the first and
// the one behind the last page.
func (p *peer) page(cursor string) (keys []string, next string, err error) {
	a, err := p.call(master.PageScript, nil, []string{strconv.Itoa(master.PageBytes), cursor, strconv.Itoa(PageKeys)})
	if a.LeftOut() > 0 {
		a, err = p.patiently(master.PageScript, nil, []string{"1", cursor, "1"})
	}
	if err != nil {
		return nil, "", err
	}
	if len(a.Elems) != 2 || a.Elems[0].Kind != quorum.BulkReply {
		return nil, "", p.garbage()
	}
	for _, e := range a.Elems[1].Elems {
		if !quorum.Private(e.Str) {
			keys = append(keys, e.Str)
		}
	}
	return keys, a.Elems[0].Str, nil
}

// read reads what the master holds of the keys, or of as many of them as one
// answer should hold. Of one that there is no room for, or that our user may not touch,
// it tells that.
func (p *peer) read(keys []string) ([]reading, error) {
	return each(p, keys, itself, reading{forbidden: true}, p.readAllowed)
}

func (p *peer) readAllowed(keys []string) ([]reading, error) {
	most := []string{strconv.Itoa(master.PageBytes)}
	a, err := p.call(ReadingScript, keys, most)
	for a.LeftOut() > 0 && len(keys) > 1 {
		keys = keys[:len(keys)/2]
		a, err = p.call(ReadingScript, keys, most)
	}
	if a.LeftOut() > 0 {
		a, err = p.patiently(ReadingScript, keys, most)
	}
	if n := a.LeftOut(); n > 0 {
		return []reading{{leftOut: n}}, nil
	}
	if err != nil {
		return nil, err
	}
	readings, ok := readReadings(a)
	if !ok || len(readings) == 0 || len(readings) > len(keys) {
		return nil, p.garbage()
	}
	return readings, nil
}

// count asks how many of the keys the master has, whatever they hold: none that it tells of
// if our user may not touch one of them.
func (p *peer) count(keys []string) (int, error) {
	a, err := p.ask(append([]string{"EXISTS"}, keys...))
	if errors.Is(err, errForbidsKey) {
		return 0, nil
	}
	if err == nil && a.Kind != quorum.IntegerReply {
		err = p.garbage()
	}
	return int(a.Int), err
}

// held asks whether the master holds what others were given. What our user may not touch
// is unread.
func (p *peer) held(list []given) ([]agreement, error) {
	return each(p, list, keyOfGiven, unread, p.heldAllowed)
}

func (p *peer) heldAllowed(list []given) ([]agreement, error) {
	keys, digests := make([]string, len(list)), make([]string, len(list))
	for i, g := range list {
		keys[i], digests[i] = g.key, g.digest
	}
	said := make([]agreement, 0, len(keys))
	for len(said) < len(keys) {
		rest := keys[len(said):]
		a, err := p.call(HeldScript, rest, digests[len(said):])
		if err != nil {
			return nil, err
		}
		if len(a.Elems) != 1 || !within(len(a.Elems[0].Str), len(rest)) {
			return nil, p.garbage()
		}
		for _, letter := range []byte(a.Elems[0].Str) {
			switch letter {
			case '-':
				said = append(said, nowhere)
			case '=':
				said = append(said, agreed)
			default:
				said = append(said, disputed)
			}
		}
	}
	return said, nil
}

// within tells that a script was about some of the keys that it was given, or all.
func within(n, keys int) bool { return n > 0 && n <= keys }

// deletedOf reads the answer of a script that looks at some keys, or all: how many it has
// deleted, and looked at.
func (p *peer) deletedOf(a decide.Answer, keys int) (deleted, looked int, err error) {
	if len(a.Elems) != 2 || !within(int(a.Elems[1].Int), keys) {
		return 0, 0, p.garbage()
	}
	return int(a.Elems[0].Int), int(a.Elems[1].Int), nil
}
