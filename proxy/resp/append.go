package resp

import (
	"strconv"

	"github.com/tidwall/redcon"

	"redlock-proxy/commands"
)

// Append appends r to b as it goes to a client whose protocol is proto, 2 or 3, and returns the
// whole as append does. The zero Reply is no reply at all. It panics at a kind that is none.
func Append(b []byte, r *commands.Reply, proto int) []byte {
	b = appendHead(b, r, proto)
	for i := range r.Elems {
		b = Append(appendPair(b, r, i, proto), &r.Elems[i], proto)
	}
	return b
}

// appendHead encodes r but for its elements: here what both protocols say alike.
func appendHead(b []byte, r *commands.Reply, proto int) []byte {
	switch r.Kind {
	case 0, commands.SeveralReplies:
		return b
	case commands.SimpleReply:
		return redcon.AppendString(b, r.Str)
	case commands.ErrorReply:
		return redcon.AppendError(b, r.Str)
	case commands.IntegerReply:
		return redcon.AppendInt(b, r.Int)
	case commands.BulkReply:
		return redcon.AppendBulkString(b, r.Str)
	case commands.ArrayReply:
		return redcon.AppendArray(b, len(r.Elems))
	}
	if proto == 3 {
		return appendHead3(b, r)
	}
	return appendHead2(b, r)
}

// appendHead2 says in RESP2's words what only RESP3 has a type for.
func appendHead2(b []byte, r *commands.Reply) []byte {
	switch r.Kind {
	case commands.NullReply:
		return redcon.AppendNull(b)
	case commands.NullArrayReply:
		return append(b, "*-1\r\n"...)
	case commands.BooleanReply:
		return redcon.AppendInt(b, r.Int)
	case commands.VerbatimReply, commands.DoubleReply:
		return redcon.AppendBulkString(b, r.Str)
	case commands.PushReply, commands.PairsReply, commands.MapReply, commands.SetReply:
		return redcon.AppendArray(b, len(r.Elems))
	}
	panic(unknownKind(r.Kind))
}

// appendHead3 is the same with RESP3's types.
func appendHead3(b []byte, r *commands.Reply) []byte {
	switch r.Kind {
	case commands.NullReply, commands.NullArrayReply:
		return append(b, "_\r\n"...)
	case commands.BooleanReply:
		if r.Int != 0 {
			return append(b, "#t\r\n"...)
		}
		return append(b, "#f\r\n"...)
	case commands.VerbatimReply:
		b = appendHeader(b, '=', len(r.Str)+len("txt:"))
		b = append(b, "txt:"...)
		b = append(b, r.Str...)
		return append(b, "\r\n"...)
	case commands.DoubleReply:
		b = append(b, ',')
		b = append(b, r.Str...)
		return append(b, "\r\n"...)
	case commands.PushReply:
		return appendHeader(b, '>', len(r.Elems))
	case commands.PairsReply:
		return redcon.AppendArray(b, len(r.Elems)/2)
	case commands.MapReply:
		return appendHeader(b, '%', len(r.Elems)/2)
	case commands.SetReply:
		return appendHeader(b, '~', len(r.Elems))
	}
	panic(unknownKind(r.Kind))
}

func unknownKind(k commands.ReplyKind) string {
	return "resp: a reply of kind " + strconv.Itoa(int(k))
}

// appendPair encodes what goes before the i-th element of r: of a, b, a, b RESP3 makes an
// array of arrays of two.
func appendPair(b []byte, r *commands.Reply, i, proto int) []byte {
	if r.Kind == commands.PairsReply && proto == 3 && i%2 == 0 {
		return redcon.AppendArray(b, 2)
	}
	return b
}

func appendHeader(b []byte, kind byte, n int) []byte {
	b = append(b, kind)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}
