package engine

import (
	"errors"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// A proxy with one master configured writes no marker, but looks for one in every
// proof. A master that bears one belongs to a set, or did:
//
//	1: A wins k on masters 1 2 3 by the set's proxy; 3 is slow
//	2: a proxy that was given master 3 alone asks it for k, for B, and it grants
//
// So a lone proxy that has met a marker grants nothing until it is started again,
// whatever becomes of the marker: what it granted before is known to nobody else.

// standAlone examines the only master that there is.
func (k *keeper) standAlone(link *master.Link) error {
	if met := k.db.engine.installation.metMarker(); met != nil {
		return met
	}
	a, p, err := link.Do("GET", quorum.MarkerKey)
	switch {
	case err != nil:
		return err
	case a.Kind == quorum.FailureReply:
		return errors.New(a.Str)
	}
	k.tick(p)
	if a.Kind != quorum.NilReply || p.Nonce != "" {
		return k.db.engine.installation.meetMarker(marker.OfASet(a.Str))
	}
	k.lift(marker.Marker{}, link.Who)
	return nil
}

// meetMarker has a lone proxy grant nothing from now on, in no database.
func (i *installation) meetMarker(err error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.met == nil {
		i.met = err
	}
	return i.met
}

// metMarker is why a lone proxy grants nothing, nil if it may.
func (i *installation) metMarker() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.met
}
