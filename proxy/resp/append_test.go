package resp

import (
	"strings"
	"testing"

	"redlock-proxy/commands"
)

func TestRepliesAreEncodedByTheClientsProtocol(t *testing.T) {
	nested := commands.Array(commands.Integer(-1), commands.Null, commands.Array())
	for _, row := range []struct {
		reply        commands.Reply
		resp2, resp3 string
	}{
		{commands.Reply{}, "", ""},
		{commands.OK, "+OK\r\n", "+OK\r\n"},
		{commands.Error("ERR a\r\nb"), "-ERR a  b\r\n", "-ERR a  b\r\n"},
		{commands.Integer(12345), ":12345\r\n", ":12345\r\n"},
		{commands.Bulk(""), "$0\r\n\r\n", "$0\r\n\r\n"},
		{commands.Bulk("a\r\n"), "$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n"},
		{commands.Null, "$-1\r\n", "_\r\n"},
		{commands.Reply{Kind: commands.NullArrayReply}, "*-1\r\n", "_\r\n"},
		{commands.Reply{Kind: commands.BooleanReply, Int: 1}, ":1\r\n", "#t\r\n"},
		{commands.Reply{Kind: commands.BooleanReply}, ":0\r\n", "#f\r\n"},
		{commands.Verbatim("text"), "$4\r\ntext\r\n", "=8\r\ntxt:text\r\n"},
		{commands.Map(commands.Bulk("k"), commands.Integer(1)), "*2\r\n$1\r\nk\r\n:1\r\n", "%1\r\n$1\r\nk\r\n:1\r\n"},
		{commands.Set(commands.Simple("a")), "*1\r\n+a\r\n", "~1\r\n+a\r\n"},
		{commands.Reply{Kind: commands.DoubleReply, Str: "1.5"}, "$3\r\n1.5\r\n", ",1.5\r\n"},
		{commands.Reply{Kind: commands.PairsReply, Elems: []commands.Reply{
			commands.Bulk("m"), {Kind: commands.DoubleReply, Str: "inf"}, commands.Bulk("n"), {Kind: commands.DoubleReply, Str: "-1"},
		}}, "*4\r\n$1\r\nm\r\n$3\r\ninf\r\n$1\r\nn\r\n$2\r\n-1\r\n", "*2\r\n*2\r\n$1\r\nm\r\n,inf\r\n*2\r\n$1\r\nn\r\n,-1\r\n"},
		{nested, "*3\r\n:-1\r\n$-1\r\n*0\r\n", "*3\r\n:-1\r\n_\r\n*0\r\n"},
	} {
		if got := string(Append(nil, &row.reply, 2)); got != row.resp2 {
			t.Errorf("%+v in RESP2: %q, want %q", row.reply, got, row.resp2)
		}
		if got := string(Append(nil, &row.reply, 3)); got != row.resp3 {
			t.Errorf("%+v in RESP3: %q, want %q", row.reply, got, row.resp3)
		}
	}
}

// However a reply is cut into pieces, it is the same bytes, and no more than were reckoned
// with.
func TestPiecesMakeUpTheReply(t *testing.T) {
	pairs := []commands.Reply{commands.Bulk("a"), commands.Integer(1), commands.Bulk("b"), commands.Integer(2)}
	var many []commands.Reply
	for range 2000 {
		many = append(many, commands.Bulk(strings.Repeat("y", 99)), commands.Null, commands.Integer(-1<<62), commands.Set(),
			commands.Reply{Kind: commands.PairsReply, Elems: pairs}, commands.Verbatim("v"), commands.Map(pairs...))
	}
	for name, reply := range map[string]commands.Reply{
		"a long text": commands.Bulk(strings.Repeat("x", 200_000)),
		"long texts":  commands.Array(commands.Bulk(strings.Repeat("x", 200_000)), commands.Bulk("s"), commands.Bulk(strings.Repeat("z", longSize))),
		"many":        commands.Array(many...),
		"pairs":       {Kind: commands.PairsReply, Elems: many},
		"several":     {Kind: commands.SeveralReplies, Elems: many},
		"INFO":        commands.Verbatim(strings.Repeat("i", 100_000)),
	} {
		for _, proto := range []int{2, 3} {
			l := NewLong(&reply, proto)
			if l == nil {
				t.Fatalf("%s: not long", name)
			}
			var got []byte
			for p := range l.Pieces {
				got = append(got, p...)
			}
			if want := Append(nil, &reply, proto); string(got) != string(want) {
				t.Errorf("%s, RESP%d: %d bytes, want %d", name, proto, len(got), len(want))
			}
			if len(got) > l.Size {
				t.Errorf("%s, RESP%d: %d bytes, reckoned with %d", name, proto, len(got), l.Size)
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	array := commands.Array(commands.Bulk("a"), commands.Integer(2), commands.Null)
	for name, reply := range map[string]*commands.Reply{"OK": &commands.OK, "array": &array} {
		b.Run(name, func(b *testing.B) {
			var room [40]byte
			b.ReportAllocs()
			for b.Loop() {
				if len(Append(room[:0], reply, 2)) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}
