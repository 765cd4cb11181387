package commands

// ReplyKind is the RESP type of a Reply, as RESP3 names it. In RESP2 a map is
// a flat array, a set an array, a verbatim string a bulk string, a boolean an
// integer, and a null a null bulk string.
type ReplyKind uint8

// The kinds, with the field that holds what is said.
const (
	SimpleReply    ReplyKind = iota + 1 // Str, of one line
	ErrorReply                          // Str, of one line that begins with a word in capitals: ERR, NOQUORUM
	IntegerReply                        // Int
	BulkReply                           // Str, any bytes
	NullReply                           // no field
	NullArrayReply                      // RESP2's *-1; the same null as any other in RESP3
	ArrayReply                          // Elems
	MapReply                            // Elems holds key, value, key, value
	SetReply                            // Elems
	VerbatimReply                       // Str is text for people
	BooleanReply                        // Int is 0 or 1
	DoubleReply                         // Str is the number as Redis writes it; a bulk string in RESP2
	PairsReply                          // Elems holds a, b, a, b: in RESP3 an array of two for each pair
	PushReply                           // Elems, which the client did not ask for; an array in RESP2

	// SeveralReplies is no type of RESP: Elems are replies that follow one
	// another, to one command.
	SeveralReplies
)

// Reply is one reply to a client, before it becomes bytes: the connection
// encodes it by the client's protocol. The zero Reply means that there is none.
// It is a value that many may hold, and what Elems points to is not changed once it is made.
type Reply struct {
	Kind  ReplyKind
	Str   string
	Int   int64
	Elems []Reply
}

// OK is the simple string that most commands answer with.
var OK = Simple("OK")

// Null is the null reply.
var Null = Reply{Kind: NullReply}

// Simple is a status, such as QUEUED. A line end in it goes out as a blank.
func Simple(s string) Reply { return Reply{Kind: SimpleReply, Str: s} }

// Error is a refusal, or what has gone wrong: s is all of it, with the ERR that it begins with.
// A line end in it goes out as a blank.
func Error(s string) Reply { return Reply{Kind: ErrorReply, Str: s} }

// Integer is a whole number, of RESP's 64 bits.
func Integer(n int64) Reply { return Reply{Kind: IntegerReply, Int: n} }

// Bulk is a string of any bytes, which the reply holds on to until it is written.
func Bulk(s string) Reply { return Reply{Kind: BulkReply, Str: s} }

// Verbatim is a text that tools show as it is, such as INFO's.
func Verbatim(s string) Reply { return Reply{Kind: VerbatimReply, Str: s} }

// Array owns elems from here on, as do Map, Push and Set.
func Array(elems ...Reply) Reply { return Reply{Kind: ArrayReply, Elems: elems} }

// Map takes key, value, key, value.
func Map(pairs ...Reply) Reply { return Reply{Kind: MapReply, Elems: pairs} }

// Push is a message to a subscriber, or the answer to a command that subscribes.
func Push(elems ...Reply) Reply { return Reply{Kind: PushReply, Elems: elems} }

// Set is an array whose order says nothing.
func Set(elems ...Reply) Reply { return Reply{Kind: SetReply, Elems: elems} }
