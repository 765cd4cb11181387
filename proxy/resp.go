package proxy

import (
	"strconv"

	"github.com/tidwall/redcon"

	"redlock-proxy/commands"
)

// appendReply encodes r for a client that speaks RESP2 or RESP3. The zero
// Reply is no reply at all.
func appendReply(b []byte, r *commands.Reply, proto int) []byte {
	b = appendHead(b, r, proto)
	for i := range r.Elems {
		b = appendReply(appendPair(b, r, i, proto), &r.Elems[i], proto)
	}
	return b
}

// appendHead encodes r but for its elements.
func appendHead(b []byte, r *commands.Reply, proto int) []byte {
	resp3 := proto == 3
	switch r.Kind {
	case 0:
		return b
	case commands.SimpleReply:
		return redcon.AppendString(b, r.Str)
	case commands.ErrorReply:
		return redcon.AppendError(b, r.Str)
	case commands.IntegerReply:
		return redcon.AppendInt(b, r.Int)
	case commands.BulkReply:
		return redcon.AppendBulkString(b, r.Str)
	case commands.NullReply, commands.NullArrayReply:
		switch {
		case resp3:
			return append(b, "_\r\n"...)
		case r.Kind == commands.NullArrayReply:
			return append(b, "*-1\r\n"...)
		}
		return redcon.AppendNull(b)
	case commands.BooleanReply:
		switch {
		case !resp3:
			return redcon.AppendInt(b, r.Int)
		case r.Int != 0:
			return append(b, "#t\r\n"...)
		}
		return append(b, "#f\r\n"...)
	case commands.VerbatimReply:
		if !resp3 {
			return redcon.AppendBulkString(b, r.Str)
		}
		b = appendHeader(b, '=', len(r.Str)+len("txt:"))
		b = append(b, "txt:"...)
		b = append(b, r.Str...)
		return append(b, "\r\n"...)
	case commands.SeveralReplies:
	case commands.PushReply:
		if resp3 {
			b = appendHeader(b, '>', len(r.Elems))
		} else {
			b = redcon.AppendArray(b, len(r.Elems))
		}
	case commands.DoubleReply:
		if !resp3 {
			return redcon.AppendBulkString(b, r.Str)
		}
		b = append(b, ',')
		b = append(b, r.Str...)
		return append(b, "\r\n"...)
	case commands.PairsReply:
		if resp3 {
			return redcon.AppendArray(b, len(r.Elems)/2)
		}
		b = redcon.AppendArray(b, len(r.Elems))
	case commands.ArrayReply:
		b = redcon.AppendArray(b, len(r.Elems))
	case commands.MapReply:
		if resp3 {
			b = appendHeader(b, '%', len(r.Elems)/2)
		} else {
			b = redcon.AppendArray(b, len(r.Elems))
		}
	case commands.SetReply:
		if resp3 {
			b = appendHeader(b, '~', len(r.Elems))
		} else {
			b = redcon.AppendArray(b, len(r.Elems))
		}
	default:
		panic("proxy: a reply of kind " + strconv.Itoa(int(r.Kind)))
	}
	return b
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
