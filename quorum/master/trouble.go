package master

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
)

// Trouble is an error that a master has answered, of which a new look at the gate must show what
// is the matter.
type Trouble string

func (e Trouble) Error() string { return string(e) }

// ReasonOf says in a few words why a connection failed.
func ReasonOf(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
