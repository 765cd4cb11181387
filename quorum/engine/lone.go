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

// errOfASet is an ErrOtherTerms: a lone proxy's master bears a marker.
type errOfASet struct{ *marker.Unfit }

func (e *errOfASet) Is(err error) bool { return err == quorum.ErrOtherTerms }

func (e *errOfASet) Unwrap() error { return e.Unfit }

func ofASet(text string) error {
	what := "it bears a marker, so that it is one of a set of masters, or was"
	if m, err := marker.Parse(text); err == nil {
		what = "it bears the marker of a set, which has " + m.Terms.String()
	}
	return &errOfASet{marker.NewUnfit(
		what+", and a proxy that is given it alone would grant what the set's proxies grant as well",
		"name all masters of the set; or, if it is nobody's any more, delete the key "+quorum.MarkerKey+" there in every database, and start the proxy again",
	)}
}

// standAlone examines the only master that there is.
func (l *lane) standAlone(link *master.Link) error {
	if met := l.engine.metMarker(); met != nil {
		return met
	}
	a, p, err := link.Do("GET", quorum.MarkerKey)
	switch {
	case err != nil:
		return err
	case a.Kind == quorum.FailureReply:
		return errors.New(a.Str)
	}
	l.tick(p)
	if a.Kind != quorum.NilReply || p.Nonce != "" {
		return l.engine.meetMarker(ofASet(a.Str))
	}
	l.lift(marker.Marker{}, link.Who)
	return nil
}

// meetMarker has a lone proxy grant nothing from now on, in no database.
func (e *Engine) meetMarker(err error) error {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.met == nil {
		t.met = err
	}
	return t.met
}

// metMarker is why a lone proxy grants nothing, nil if it may.
func (e *Engine) metMarker() error {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.met
}
