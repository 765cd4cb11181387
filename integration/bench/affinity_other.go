//go:build !linux

package main

import "errors"

func keepTo(thread, core int) error {
	return errors.New("a thread is kept to a core on Linux alone")
}

func letGo() error { return nil }
