package proxy

import (
	"strings"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// scripted is a session of few words:
//
//	ping          +PONG at once
//	acquire k     an acquire; +OK or null
//	write k       a write; the key as a bulk string
//	many k k      a write each; the number of wins
//	extendmore k  a read, then an extend of the same key
//	writebig k    a write; a bulk string of 10 million bytes
//	writelong k   a write; a bulk string of 50,000 bytes
//	panic         panics in Do
//	hang x        +OK once hanging is closed, and so is exec x
//	panicrender k panics in Render
//	slow k        a write; the key as a bulk string, whose Render waits for hanging
//	quit          +OK and the end
//	big n         a bulk string of n bytes
//	quiet         muted
//	anything else goes to the real dialect
type scripted struct{ *commands.Session }

// hanging is what hang waits for.
var hanging chan struct{}

func (s scripted) Do(args []string) commands.Action {
	if len(args) < 2 && args[0] != "ping" && args[0] != "quiet" && args[0] != "quit" && args[0] != "panic" {
		return s.Session.Do(args)
	}
	row := commands.Table()[0]
	one := func(kind quorum.Kind, key string) []quorum.Request {
		r := quorum.Request{Kind: kind, Key: key}
		if kind == quorum.Write {
			r.Args = []string{"SET", key, "v"}
		}
		return []quorum.Request{r}
	}
	switch args[0] {
	case "ping":
		return commands.Action{Command: row, Reply: commands.Simple("PONG")}
	case "quiet":
		return commands.Action{Command: row, Reply: commands.Simple("never seen"), Muted: true}
	case "quietwrite":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(args[1]), Muted: true}
	case "acquire":
		return commands.Action{Command: row, Requests: one(quorum.Acquire, args[1]), Render: renderKey(args[1])}
	case "write":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(args[1])}
	case "writebig":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(strings.Repeat("x", 10_000_000))}
	case "writelong":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(strings.Repeat("x", 50_000))}
	case "many":
		var requests []quorum.Request
		for _, key := range args[1:] {
			requests = append(requests, one(quorum.Write, key)...)
		}
		return commands.Action{Command: row, Requests: requests, Render: renderCount{}}
	case "extendmore":
		return commands.Action{Command: row, Requests: one(quorum.Read, args[1]), Render: renderMore(args[1]), Continues: true}
	case "panic":
		panic("as the test asked")
	case "hang", "exec":
		<-hanging
		return commands.Action{Command: row, Reply: commands.OK}
	case "panicrender":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderPanic{}}
	case "slow":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderSlow{renderKey(args[1])}, Continues: true}
	case "quit":
		return commands.Action{Command: row, Reply: commands.OK, Close: true}
	case "big":
		n := 0
		for _, c := range args[1] {
			n = min(max(n*10+int(c-'0'), 0), 1<<22)
		}
		return commands.Action{Command: row, Reply: commands.Bulk(strings.Repeat("x", n))}
	}
	return s.Session.Do(args)
}

type (
	renderKey   string
	renderMore  string
	renderCount struct{}
	renderPanic struct{}
	renderSlow  struct{ renderKey }
)

func (renderSlow) Slow([]quorum.Result) bool { return true }
func (renderSlow) Forgo()                    {}

func (r renderSlow) Render(results []quorum.Result) (commands.Reply, commands.Action) {
	<-hanging
	return r.renderKey.Render(results)
}

func (k renderKey) Render(results []quorum.Result) (commands.Reply, commands.Action) {
	if results[0].Decision != quorum.Won {
		return commands.Null, commands.Action{}
	}
	return commands.Bulk(string(k)), commands.Action{}
}

func (k renderMore) Render([]quorum.Result) (commands.Reply, commands.Action) {
	return commands.Reply{}, commands.Action{
		Requests: []quorum.Request{{Kind: quorum.Extend, Key: string(k)}}, Render: renderKey(k),
	}
}

func (renderCount) Render(results []quorum.Result) (commands.Reply, commands.Action) {
	n := int64(0)
	for _, r := range results {
		if r.Decision == quorum.Won {
			n++
		}
	}
	return commands.Integer(n), commands.Action{}
}

func (renderPanic) Render([]quorum.Result) (commands.Reply, commands.Action) {
	panic("as the test asked")
}
