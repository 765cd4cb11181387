// Package netpoll has descriptors of which Go's network poller knows only while somebody waits for them there.
//
// What it knows of it watches for good, and a thread of the runtime's is woken for whatever comes in, whoever reads that. That is
// for nothing where somebody has an epoll of his own: without it 50 clients have 1.10 and 500 1.06 times the locks for .94 of the
// processor time (SET NX PX in turns beside a build with it, on two cores).
package netpoll

import "errors"

// ErrNothing is where nothing has come, or nothing can be sent, and nobody waits.
var ErrNothing = errors.New("nothing has come")
