package engine

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// What a keeper writes on its master.

// markerOf is a new marker for the lane's master, by which it votes.
func (k *keeper) markerOf(link *master.Link, installation, loss string) marker.Marker {
	m := marker.Marker{
		Nonce:        marker.NewNonce(false),
		Installation: installation,
		Member:       k.master.Name,
		DB:           k.master.DB,
		Terms:        k.db.engine.installation.terms,
		RunID:        link.Who.RunID,
		Durable:      link.Who.Logs(),
		Rewrites:     link.Who.Rewrites,
		Loss:         loss,
		From:         k.db.engine.installation.from(),
		Evicted:      link.Who.Evicted,
		Replication:  link.Who.Replication,
	}
	if m.Durable && m.Rewrites > 0 {
		m.Log = marker.NewInstallation() // others may have been told of this process's first one
	}
	if k.master.DB == 0 {
		m.Others = k.db.logsBeside(k.lane, k.known.Others)
	}
	return m
}

// markAll writes a provisional marker, as lost is but for its nonce, in each database in
// which there is none or one of an installation, if in this one stands what was read.
// What already stands in others of a process that is spared is left there.
func (k *keeper) markAll(link *master.Link, read marker.Nonce, lost marker.Marker, installation, spared string) error {
	of := fmt.Sprintf("%q:%q", "installation", installation)
	if k.untold {
		spared = ""
	}
	if spared != "" {
		spared = fmt.Sprintf("%q:%q", "run_id", spared)
	}
	args := []string{string(read), strconv.Itoa(k.master.DB), of, spared}
	var own marker.Nonce
	for db := range quorum.Databases {
		lost.Nonce, lost.DB = marker.NewNonce(true), db
		if db == 1 {
			lost.Others = nil
		}
		if db == k.master.DB {
			own, lost.Was = lost.Nonce, k.replaces(read)
		} else {
			lost.Was = marker.AnyNonce
		}
		args = append(args, lost.String())
	}
	a, p, err := link.Do(master.LossScript.Eval(quorum.MarkerKey, args...)...)
	if err != nil {
		return err
	}
	k.tick(p)
	if a.Kind == quorum.FailureReply {
		return errors.New(a.Str)
	}
	if marker.NonceOf(a.Str) == own {
		k.settleJump(p.Clock)
		k.untold = false
		k.hearsElsewhere(decide.Answer{}, p.Clock.Read) // they are others by now
	}
	return nil
}

// replaces is the nonce that a marker is to name as the one before it. One that is gone was
// there a moment ago, and what the master has granted since is undone by that nonce:
//
//	1: master 1 is flushed, and grants k to B, who is refused by 2 and 3
//	2: its marker is written anew; B's grant is to be taken back
//	3: master 3 forgets, and were k still on 1, 3 would be given it: nobody gets k
//
// If copies had been given since this proxy saw it, their lease would still be there.
func (k *keeper) replaces(read marker.Nonce) marker.Nonce {
	if read == "" && k.db.Boot()-time.Duration(k.steady.Load()) < catchup.LeaseTime/2 {
		return k.known.Nonce
	}
	return read
}

// mark writes a marker in the place of the one that was read. If it is another by
// now, nothing is written.
func (k *keeper) mark(link *master.Link, read marker.Nonce, m marker.Marker) error {
	if m.Nonce != read {
		m.Was = k.replaces(read)
	}
	a, p, err := link.Do(master.MarkScript.Eval(quorum.MarkerKey, string(read), m.String())...)
	if err != nil {
		return err
	}
	k.tick(p)
	if a.Kind == quorum.FailureReply {
		return errors.New(a.Str)
	}
	return nil
}
