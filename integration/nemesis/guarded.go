package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// slack is what a client leaves between its work and the end of its validity.
const slack = 20 * time.Millisecond

// update reads the record that the lock guards, works for the time given, and
// puts another one in its place. Nothing but the lock keeps others from doing
// the same meanwhile. A client whose validity is about to end writes nothing.
func (h *hold) update(work time.Duration) error {
	f, err := os.OpenFile(filepath.Join(h.dir, h.key), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the guarded file: %w", err)
	}
	defer f.Close()
	u := lease.Update{Client: h.id, Key: h.key, Token: h.token, Wrote: h.random.Uint64(), Until: h.until, Begin: now()}
	var record [8]byte
	// An empty file is the record 0.
	if _, err := f.ReadAt(record[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the guarded file: %w", err)
	}
	u.Found = binary.LittleEndian.Uint64(record[:])
	time.Sleep(work)
	if h.left() < slack {
		return nil
	}
	binary.LittleEndian.PutUint64(record[:], u.Wrote)
	if _, err := f.WriteAt(record[:], 0); err != nil {
		return fmt.Errorf("write the guarded file: %w", err)
	}
	u.End = now()
	h.seen.Updates = append(h.seen.Updates, u)
	return nil
}
