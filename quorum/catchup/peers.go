package catchup

import (
	"context"
	"fmt"
	"sync"
)

// peers are the masters that take part in something: the sources, and the one that it is done
// to.
type peers struct {
	times   Times
	needed  int // sources without which nothing can be known
	sources []*peer
	target  *peer
}

// gather connects to the sources: all that can be reached, for one that is not
// read could disagree. fewer says that fewer than are needed will do.
func (p *peers) gather(ctx context.Context, list []Source, fewer bool) error {
	met := make([]*peer, len(list))
	errs := make([]error, len(list))
	var wait sync.WaitGroup
	for i, s := range list {
		wait.Go(func() { met[i], errs[i] = p.times.meet(ctx, s) })
	}
	wait.Wait()
	var away error
	for i, s := range met {
		if s != nil {
			p.sources = append(p.sources, s)
		} else {
			away = errs[i]
		}
	}
	switch {
	case len(p.sources) >= p.needed, len(p.sources) > 0 && fewer:
		return nil
	case away != nil:
		return fmt.Errorf("%w; %w", p.tooFew(), away)
	}
	return p.tooFew()
}

// tooFew says that what was read is not enough.
func (p *peers) tooFew() error {
	return fmt.Errorf("%d of the other masters can be read, %d are needed", len(p.sources), p.needed)
}

func (p *peers) leave() {
	for _, s := range p.sources {
		s.leave()
	}
	if p.target != nil {
		p.target.leave()
	}
}

// onAll asks all sources at once. The error is that of the first that has one.
func onAll[T any](sources []*peer, ask func(*peer) (T, error)) ([]T, error) {
	said := make([]T, len(sources))
	errs := make([]error, len(sources))
	var wait sync.WaitGroup
	for i, s := range sources {
		wait.Go(func() { said[i], errs[i] = ask(s) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return said, nil
}

// read reads the keys on all sources: what each of them holds of each key, for as
// many of the keys as all of them have told.
func (p *peers) read(keys []string) ([][]reading, error) {
	told, err := onAll(p.sources, func(s *peer) ([]reading, error) { return s.read(keys) })
	if err != nil {
		return nil, err
	}
	return byKey(told), nil
}

// byKey turns what each source said of each key into what was said of each key by
// the sources, as far as all of them did.
func byKey[T any](said [][]T) [][]T {
	n := len(said[0])
	for _, list := range said {
		n = min(n, len(list))
	}
	turned := make([][]T, n)
	cells := make([]T, n*len(said))
	for i := range turned {
		turned[i] = cells[i*len(said) : (i+1)*len(said)]
		for j, list := range said {
			turned[i][j] = list[i]
		}
	}
	return turned
}
