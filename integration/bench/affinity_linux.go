package main

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// keepTo keeps a thread, by its id, to one core; 0 is the thread that asks.
func keepTo(thread, core int) error {
	var cores [16]uint64
	cores[core/64] = 1 << (core % 64)
	return setCores(thread, &cores)
}

// letGo lets the thread that asks run on every core that this process has.
func letGo() error {
	var cores [16]uint64
	for core := range runtime.NumCPU() {
		cores[core/64] |= 1 << (core % 64)
	}
	return setCores(0, &cores)
}

func setCores(thread int, cores *[16]uint64) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(thread), unsafe.Sizeof(*cores), uintptr(unsafe.Pointer(cores)))
	if errno != 0 {
		return fmt.Errorf("keep thread %d to cores: %w", thread, errno)
	}
	return nil
}
