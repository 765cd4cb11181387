//go:build !linux

package master

import "errors"

// Watch is Linux's.
type Watch struct{}

func NewWatch(int) (*Watch, error)      { return nil, errors.ErrUnsupported }
func (w *Watch) Close()                 {}
func (w *Watch) Add(*Link, int) error   { return errors.ErrUnsupported }
func (w *Watch) Wait(int) ([]int, bool) { return nil, false }
