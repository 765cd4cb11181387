package proxy

import (
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
		if got := string(appendReply(nil, &row.reply, 2)); got != row.resp2 {
			t.Errorf("%+v in RESP2: %q, want %q", row.reply, got, row.resp2)
		}
		if got := string(appendReply(nil, &row.reply, 3)); got != row.resp3 {
			t.Errorf("%+v in RESP3: %q, want %q", row.reply, got, row.resp3)
		}
	}
}
