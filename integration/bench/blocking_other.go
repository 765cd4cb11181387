//go:build !linux

package main

import "time"

// blocking is, elsewhere than on Linux, a connection like the others.
type blocking struct{ *wire }

func dialBlocking(addr string) (*blocking, error) {
	w, err := dialWire(addr)
	return &blocking{w}, err
}

func (b *blocking) close() error {
	b.wire.close()
	return nil
}

func pause(d time.Duration) { time.Sleep(d) }
