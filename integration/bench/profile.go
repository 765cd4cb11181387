package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"
)

// profileTime is how long a load runs while it is profiled.
const profileTime = 10 * time.Second

// profiles writes a CPU and an allocation profile of a proxy under each of three
// loads. The profiles hold this program's own work too, which is to wait. The
// later allocation profiles hold the ones before: `go tool pprof -base` takes those off.
func (b *bench) profiles(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	i, err := openInside(b.masters)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	for _, s := range []shape{{1, 1}, {50, 1}, {50, 16}} {
		f := &flood{shape: s, command: acquire}
		load := f.at(i.addr)
		for range warmUps {
			if _, err := load(time.Second); err != nil {
				return err
			}
		}
		if err := b.profiled(load, filepath.Join(dir, s.name())); err != nil {
			return err
		}
		if err := flush(i.addr); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) profiled(load func(time.Duration) (sample, error), path string) (err error) {
	cpu, err := os.Create(path + ".cpu.pprof")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cpu.Close()) }()
	allocated, err := os.Create(path + ".alloc.pprof")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, allocated.Close()) }()
	// Noting allocations would be a fifth of what the CPU profile shows.
	runtime.MemProfileRate = 0
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	taken, err := load(profileTime)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	runtime.MemProfileRate = 1024
	defer func() { runtime.MemProfileRate = 0 }()
	if _, err := load(time.Second); err != nil {
		return err
	}
	runtime.GC() // what was allocated is booked at the next collection
	fmt.Printf("%s.{cpu,alloc}.pprof: %d requests, %.0f a second\n", path, taken.operations, taken.perSecond)
	return pprof.Lookup("allocs").WriteTo(allocated, 0)
}
