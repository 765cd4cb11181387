package commands

// ReplyKind is the RESP type of a Reply, as RESP3 names it. In RESP2 a map is
// a flat array, a set an array, a verbatim string a bulk string, a boolean an
// integer, and a null a null bulk string.
type ReplyKind uint8

const (
	SimpleReply ReplyKind = iota + 1
	ErrorReply
	IntegerReply
	BulkReply
	NullReply
	NullArrayReply // RESP2's *-1; the same null as any other in RESP3
	ArrayReply
	MapReply // Elems holds key, value, key, value
	SetReply
	VerbatimReply // text
	BooleanReply  // Int is 0 or 1
	DoubleReply   // Str is the number as Redis writes it; a bulk string in RESP2
	PairsReply    // Elems holds a, b, a, b: in RESP3 an array of two for each pair
	PushReply     // what the client did not ask for; an array in RESP2

	// SeveralReplies is no type of RESP: Elems are replies that follow one
	// another, to one command.
	SeveralReplies
)

// Reply is one reply to a client, before it becomes bytes: the connection
// encodes it by the client's protocol. The zero Reply means that there is none.
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

func Simple(s string) Reply   { return Reply{Kind: SimpleReply, Str: s} }
func Error(s string) Reply    { return Reply{Kind: ErrorReply, Str: s} }
func Integer(n int64) Reply   { return Reply{Kind: IntegerReply, Int: n} }
func Bulk(s string) Reply     { return Reply{Kind: BulkReply, Str: s} }
func Verbatim(s string) Reply { return Reply{Kind: VerbatimReply, Str: s} }

func Array(elems ...Reply) Reply { return Reply{Kind: ArrayReply, Elems: elems} }

// Map takes key, value, key, value.
func Map(pairs ...Reply) Reply  { return Reply{Kind: MapReply, Elems: pairs} }
func Push(elems ...Reply) Reply { return Reply{Kind: PushReply, Elems: elems} }
func Set(elems ...Reply) Reply  { return Reply{Kind: SetReply, Elems: elems} }
