package catchup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// given is a key that the master was given, and its value's digest.
type given struct{ key, digest string }

// order is what the master is to be given.
type order struct {
	key string
	reading
}

// give has the master hold what the sources agree on for these keys, in as many
// steps as that takes. from is the source that has named them all, or nil.
func (r *run) give(keys []string, from *peer) error {
	for len(keys) > 0 {
		step := keys[:bundle(keys, itself)]
		readings, err := r.read(step)
		if err != nil {
			return err
		}
		began := time.Now()
		barred, err := r.target.sift(forbiddenOf(step, readings))
		if err != nil {
			return err
		}
		orders, left := r.weigh(step, readings, from, barred)
		list, err := r.copy(orders)
		if err == nil {
			err = r.takeBack(left) // where the master is one of those that held it
		}
		if err != nil {
			return err
		}
		r.copying += time.Since(began)
		r.Progress.Copied.Add(int64(len(list)))
		if err := r.followUp(list); err != nil {
			return err
		}
		keys = keys[len(readings):]
	}
	return nil
}

// weigh tells what to copy of the keys, by what each source holds of them, and what is
// left of locks. Those that are disputed are kept, to be read again; those that the target is known
// to forbid are in barred.
func (r *run) weigh(keys []string, readings [][]reading, from *peer, barred map[string]bool) (list []order, left []given) {
	for i, of := range readings {
		if barred[keys[i]] || r.target.forbids(keys[i]) {
			r.handled.add(keys[i]) // nor can our user ask it for a vote on that
			continue
		}
		later := r.keepsSilent(of, from)
		switch best, a := agree(of); {
		case a == unread:
			// The others are no worse for it.
			r.failed = fmt.Errorf("a key of about %d bytes is too long to be copied", best.leftOut)
			r.handled.add(keys[i])
		case a == agreed && r.Closed && leftover(best, of, r.needed):
			left = append(left, given{keys[i], best.digest})
			r.handledUnless(later, keys[i])
		case a == agreed && !(emptied(best, of) && r.waitsForEmptied() && r.hasRoom()):
			list = append(list, order{keys[i], best})
			r.handledUnless(later, keys[i])
		case a == nowhere:
		case r.disputed[keys[i]]:
		case !r.hasRoom():
			r.overflow = true
		default:
			r.disputed[keys[i]] = true
			r.doubtful += len(keys[i])
		}
	}
	return list, left
}

// hasRoom tells that one more key may be disputed.
func (r *run) hasRoom() bool { return len(r.disputed) < MaxDisputed && r.doubtful < maxNameBytes }

// waitsForEmptied tells that those who can may not have looked yet at what is emptied.
func (r *run) waitsForEmptied() bool {
	return r.Disputes != nil && !r.Last && r.times.Boot() < r.patience
}

// copy carries out the orders, overwriting what the master itself holds: that
// carries no vote. It returns those that made a difference. With no orders it is the
// proof alone.
func (r *run) copy(orders []order) (list []given, err error) {
	_, err = sparing(r.target, orders, keyOfOrder, func(orders []order) error {
		list, err = r.copyAllowed(orders)
		return err
	})
	return list, err
}

func (r *run) copyAllowed(orders []order) (list []given, err error) {
	keys := make([]string, 0, len(orders))
	args := make([]string, 0, 3+2*len(orders))
	told := make([]byte, len(orders)) // as the script wants it
	args = append(args, r.Lease, leaseFor, "")
	var payloads []string
	for i, o := range orders {
		// A ttl of 0 is less than a millisecond.
		left := o.left
		if left == 0 {
			left = 1
		}
		what, whole := strings.CutPrefix(o.digest, toldWhole)
		told[i] = 'w'
		if !whole {
			told[i] = '#'
			payload := o.payload
			if o.kind() != "string" { // that is no dump
				payload = dump.Readable(payload)
			}
			payloads = append(payloads, payload)
		}
		keys, args = append(keys, o.key), append(args, what, strconv.FormatInt(left, 10))
	}
	args[2] = string(told)
	args = append(args, payloads...)
	a, err := r.target.change(CopyScript, keys, args)
	if err != nil {
		return nil, err
	}
	if len(a.Elems) != 2 || len(a.Elems[0].Str) != len(orders) {
		return nil, r.target.garbage()
	}
	for i, letter := range []byte(a.Elems[0].Str) {
		o := &orders[i]
		if letter == '!' {
			r.failed = &errPeer{r.target.Master.Name, fmt.Errorf("a %s cannot be copied to it: %s", o.kind(), a.Elems[1].Str)}
			continue
		}
		if o.left == decide.SaysNoTTL && len(r.eternal) < maxEternal && r.lasting < maxNameBytes {
			r.eternal[o.key] = o.digest
			r.lasting += len(o.key)
		}
		if letter == '+' {
			list = append(list, given{o.key, o.digest})
		}
	}
	return list, nil
}

// followUp takes back of what the master was just given what has been released, and
// what no source holds any more. Nearly always one of them still has all of it, and
// that is soon asked.
func (r *run) followUp(list []given) error {
	list, over := r.Released.part(list)
	if err := r.takeBack(over); err != nil || len(list) == 0 {
		return err
	}
	keys := keysOf(list, keyOfGiven)
	counts, err := onAll(r.sources, func(s *peer) (int, error) { return s.count(keys) })
	if err != nil || slices.Max(counts) == len(keys) {
		return err
	}
	_, err = r.recheck(list)
	return err
}

// recheck asks the sources again about what the master was given, and takes back
// what none of them holds any more: its release may have passed the master before
// the copy did. It returns the keys that the sources hold with another value by now.
//
// Those stay with the master as they are: a write that only a minority carried out
// is put back, and then it is the old value that counts.
func (r *run) recheck(list []given) (changed []string, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	said, err := onAll(r.sources, func(s *peer) ([]agreement, error) { return s.held(list) })
	if err != nil {
		return nil, err
	}
	var gone []given
	for i, of := range byKey(said) {
		switch still(of) {
		case nowhere:
			gone = append(gone, list[i])
		case disputed:
			changed = append(changed, list[i].key)
		}
	}
	// Of too few sources it cannot be told that nobody holds a lock any more.
	if len(r.sources) < r.needed {
		return changed, nil
	}
	return changed, r.takeBack(gone)
}

// takeBack deletes what the master was given and has still.
func (r *run) takeBack(list []given) error {
	_, err := sparing(r.target, list, keyOfGiven, r.takeBackAllowed)
	return err
}

func (r *run) takeBackAllowed(list []given) error {
	if len(list) == 0 {
		return nil
	}
	var keys, digests []string
	for _, g := range list {
		keys, digests = append(keys, g.key), append(digests, g.digest)
		if _, known := r.eternal[g.key]; known {
			delete(r.eternal, g.key)
			r.lasting -= len(g.key)
		}
	}
	for len(keys) > 0 {
		a, err := r.target.change(ReturnScript, keys, append([]string{r.Lease, leaseFor}, digests...))
		if err != nil {
			return err
		}
		_, looked, err := r.target.deletedOf(a, len(keys))
		if err != nil {
			return err
		}
		keys, digests = keys[looked:], digests[looked:]
	}
	return nil
}
