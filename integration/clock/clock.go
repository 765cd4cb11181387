// Package clock makes the wall clock of a server jump while the server runs.
// A small C library is compiled, preloaded into the server, and adds an offset
// that stands in a file; see preload/clock.c for what it may not do. It is for
// Linux alone.
package clock

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

//go:embed preload/clock.c
var source []byte

// size is that of the offset in its file.
const size = 8

// Build compiles the library into dir, with the system's C compiler, and
// returns its path.
func Build(dir string) (library string, err error) {
	from := filepath.Join(dir, "clock.c")
	if err := os.WriteFile(from, source, 0o600); err != nil {
		return "", err
	}
	library = filepath.Join(dir, "clock.so")
	cmd := exec.Command("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, from)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the clock library: %w\n%s", err, out)
	}
	return library, nil
}

// Clock is the wall clock of one server, across its restarts. It is safe for
// concurrent use until it is closed.
type Clock struct {
	library, path string
	page          []byte
	offset        *atomic.Int64 // in page
}

// New makes a clock that runs true, with its file in dir.
func New(library, dir string) (c *Clock, err error) {
	f, err := os.CreateTemp(dir, "offset-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	// A mapping begins at a page, so the number in it is aligned; it is stored
	// in one piece, as the server may read it at any moment.
	return &Clock{library, f.Name(), page, (*atomic.Int64)(unsafe.Pointer(&page[0]))}, nil
}

// Env is what a server needs in its environment to live by this clock.
func (c *Clock) Env() []string {
	return []string{"LD_PRELOAD=" + c.library, "REDIS_CLOCK_OFFSET=" + c.path}
}

// Jump moves the clock by d, forward or back, from wherever it is.
func (c *Clock) Jump(d time.Duration) { c.offset.Add(int64(d)) }

// Set makes the clock differ from this machine's by d. Zero: it is right.
func (c *Clock) Set(d time.Duration) { c.offset.Store(int64(d)) }

// Offset is by how much the clock is ahead of this machine's.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// Close lets go of the file, which stays where it is. A server that still runs
// keeps the offset that it has.
func (c *Clock) Close() error { return syscall.Munmap(c.page) }
