package resp

import (
	"sync"
	"unsafe"

	"redlock-proxy/commands"
)

// Long is a reply that is encoded in pieces as it is written, by the goroutine that
// writes: until then it takes no more memory than what it tells of, which many may share,
// and nobody else waits for it.
type Long struct {
	reply commands.Reply
	proto int

	Size int // in bytes, or somewhat more
	Held int // bytes of memory, which is less where a text is told several times
}

const (
	// longSize is when a reply is long. It is well above what locks are about.
	longSize = 16 << 10

	// PieceSize is how much is given to a socket at once: nothing else has the
	// processor meanwhile, and a deadline moves on as the client reads.
	PieceSize = 64 << 10

	// headSize is the most that an element takes beside its text, with that of a pair.
	headSize = 40

	// sharedSize is from when on it is looked whether a text is held already.
	sharedSize = 4 << 10
)

// NewLong is r for a client whose protocol is proto, 2 or 3, and nil if r is not long: less
// than 16 KiB when it is encoded. It holds on to r until it is written.
func NewLong(r *commands.Reply, proto int) *Long {
	if len(r.Elems) == 0 && len(r.Str) < longSize {
		return nil
	}
	if n := sizeOf(r); n >= longSize {
		return &Long{*r, proto, n, heldBy(r, map[*byte]struct{}{})}
	}
	return nil
}

// sizeOf is how long a reply is when it is encoded, at most.
func sizeOf(r *commands.Reply) int {
	n := len(r.Str) + headSize
	for i := range r.Elems {
		n += sizeOf(&r.Elems[i])
	}
	return n
}

// heldBy is what a reply holds in memory. Of those that are seen already nothing is added.
func heldBy(r *commands.Reply, seen map[*byte]struct{}) int {
	n := int(unsafe.Sizeof(*r))
	if text := unsafe.StringData(r.Str); len(r.Str) < sharedSize {
		n += len(r.Str)
	} else if _, again := seen[text]; !again {
		seen[text] = struct{}{}
		n += len(r.Str)
	}
	for i := range r.Elems {
		n += heldBy(&r.Elems[i], seen)
	}
	return n
}

// Pieces yields the encoded reply in pieces of about PieceSize; a longer text is a piece of its
// own. A piece is valid until the next one, and must not be written to. Each call begins anew.
func (l *Long) Pieces(yield func([]byte) bool) {
	room := pieceBuffers.Get().(*[PieceSize + longSize]byte)
	defer pieceBuffers.Put(room)
	e := encoder{b: room[:0], proto: l.proto, yield: yield}
	if e.add(&l.reply) && len(e.b) > 0 {
		yield(e.b)
	}
}

var pieceBuffers = sync.Pool{New: func() any { return new([PieceSize + longSize]byte) }}

// encoder gathers what is encoded until it is a piece.
type encoder struct {
	b     []byte
	proto int
	yield func([]byte) bool
}

// add is false if no more is wanted.
func (e *encoder) add(r *commands.Reply) bool {
	if r.Kind == commands.BulkReply && len(r.Str) >= longSize {
		e.b = appendHeader(e.b, '$', len(r.Str))
		if !e.flush() || !e.yield(unsafe.Slice(unsafe.StringData(r.Str), len(r.Str))) {
			return false
		}
		e.b = append(e.b, "\r\n"...)
		return true
	}
	e.b = appendHead(e.b, r, e.proto)
	for i := range r.Elems {
		e.b = appendPair(e.b, r, i, e.proto)
		if !e.add(&r.Elems[i]) {
			return false
		}
	}
	return len(e.b) < PieceSize || e.flush()
}

func (e *encoder) flush() bool {
	b := e.b
	e.b = e.b[:0]
	return e.yield(b)
}
