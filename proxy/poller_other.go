//go:build !linux

package proxy

import (
	"errors"

	"redlock-proxy/quorum"
)

// poller is Linux's: elsewhere each connection has a goroutine of its own.
type poller struct{}

func newPoller(*Server) (*poller, error) { return nil, errors.ErrUnsupported }

func (p *poller) staying() quorum.Stay { return nil }
func (p *poller) close()               {}
func (p *poller) handOver()            {}
func (p *poller) watch(*conn) error    { return nil }
func (p *poller) forget(*conn)         {}
