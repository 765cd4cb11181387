package main

import (
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// hold is a lock that a client has.
type hold struct {
	*worker
	key, token string
	ttl        time.Duration
	until      lease.Instant // the client relies on it till then
	lost       bool          // the client was told that it no longer has it
}

// spend uses the lock in one of the ways in which clients do: for a moment, for
// long with extensions, to the last moment, or not at all since the client died.
func (h *hold) spend() error {
	switch way := h.random.IntN(10); {
	case way < 4:
		if err := h.update(h.upTo(25 * time.Millisecond)); err != nil {
			return err
		}
	case way < 7:
		for range 1 + h.random.IntN(5) {
			if err := h.update(h.ttl/4 + h.upTo(h.ttl/4)); err != nil {
				return err
			}
			if !h.extend() {
				break
			}
		}
	case way < 9:
		for h.left() > h.ttl/5 && !h.lost {
			if err := h.update(h.ttl / 6); err != nil {
				return err
			}
			h.look()
		}
	default:
		return nil // it dies with its ttl
	}
	if !h.lost && h.connect() {
		h.note(h.release(h.key, h.token))
	}
	return nil
}

func (h *hold) left() time.Duration { return until(h.until) }

// extend is false if there is nothing left to extend.
func (h *hold) extend() bool {
	if h.left() <= 0 || !h.connect() {
		return !h.lost && h.left() > 0
	}
	op := h.worker.extend(h.key, h.token, h.ttl)
	h.note(op)
	if op.Outcome == lease.Yes {
		h.until = op.Call.After(op.TTL)
	}
	return !h.lost && h.left() > 0
}

func (h *hold) look() {
	if h.connect() {
		h.note(h.read(h.key, h.token))
	}
}

func (h *hold) note(op lease.Op) {
	h.seen.Ops = append(h.seen.Ops, op)
	h.lost = h.lost || op.Outcome == lease.No
}
