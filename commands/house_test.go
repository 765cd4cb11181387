package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/integration/transcript"
)

// house is a server made of sessions, one perfect master, and the least of what
// the effects need. It has no network: a command is answered while it is sent.
type house struct {
	dialect *Dialect
	master  *master
	guests  []*guest // by id
}

func newHouse(o Options) *house {
	return &house{dialect: NewDialect(o), master: newMaster()}
}

// guest is one client of a house.
type guest struct {
	house   *house
	session *Session
	replies [][]string
	gone    bool
}

func (h *house) dial(int) (transcript.Conn, error) {
	g := &guest{house: h, session: h.dialect.Session(int64(len(h.guests) + 1))}
	h.guests = append(h.guests, g)
	return g, nil
}

func (h *house) wait(d time.Duration) { h.master.wait(d) }

// masters knows the one command that conversations put to the masters.
func (h *house) masters(args []string) error {
	if args[0] != "HSET" {
		return fmt.Errorf("the master knows HSET alone, not %s", args[0])
	}
	h.master.keys[args[1]] = entry{kind: "hash"}
	return nil
}

func (g *guest) Send(args []string) error {
	if g.gone {
		return nil
	}
	a := g.session.Do(args)
	reply := g.carryOut(a)
	switch {
	case a.Muted:
	case reply.Kind == SeveralReplies:
		for _, r := range reply.Elems {
			g.replies = append(g.replies, lines(nil, r, g.session.Proto()))
		}
	default:
		g.replies = append(g.replies, lines(nil, reply, g.session.Proto()))
	}
	g.gone = g.gone || a.Close
	return nil
}

func (g *guest) Receive() ([]string, error) {
	switch {
	case len(g.replies) > 0:
		reply := g.replies[0]
		g.replies = g.replies[1:]
		return reply, nil
	case g.gone:
		return []string{transcript.Closed}, nil
	}
	return nil, fmt.Errorf("there is no reply")
}

func (g *guest) carryOut(a Action) Reply {
	for {
		if a.Effect != nil {
			return g.effect(a.Effect)
		}
		if a.Render == nil {
			return a.Reply
		}
		var reply Reply
		if reply, a = a.Render.Render(results(g.house.master, a)); reply.Kind != 0 {
			return reply
		}
	}
}

func (g *guest) effect(effect Effect) Reply {
	if reply, known := g.pubsubEffect(effect); known {
		return reply
	}
	if reply, known := toolEffect(effect); known {
		return reply
	}
	switch e := effect.(type) {
	case SelectEffect:
		return g.session.Selected(e, nil)
	case TrackingEffect:
		return g.session.Tracks(e, nil)
	case TimeEffect:
		now := g.house.master.now
		return Array(Bulk(strconv.FormatInt(now/1000, 10)), Bulk(strconv.FormatInt(now%1000*1000, 10)))
	case InfoEffect:
		if slices.Contains(e.Sections, "replication") {
			return Verbatim("# Replication\r\nrole:master\r\n")
		}
		if len(e.Sections) > 0 && !slices.Contains(e.Sections, "server") {
			return Verbatim("")
		}
		return Verbatim("# Server\r\nredis_version:" + g.house.dialect.options.Version + "\r\n")
	case MastersEffect:
		return Array()
	case AdmitEffect:
		return Simple("admitted " + e.Master)
	case DrainEffect:
		return Simple("drained " + e.Master)
	case ResumeEffect:
		return Simple("resumed " + e.Master)
	case ClientInfoEffect:
		return Verbatim(g.describe())
	case ClientListEffect:
		var list strings.Builder
		for _, other := range g.house.guests {
			if other.matches(e.Filter) {
				list.WriteString(other.describe())
			}
		}
		return Verbatim(list.String())
	case ClientKillEffect:
		n := int64(0)
		for _, other := range g.house.guests {
			if other.matches(e.Filter) && !(other == g && e.Filter.SkipMe) {
				other.gone = true
				n++
			}
		}
		if !e.Old {
			return Integer(n)
		}
		if n == 0 {
			return Error(NoSuchClient)
		}
		return OK
	}
	panic(fmt.Sprintf("unknown effect %T", effect))
}

func (g *guest) describe() string {
	seen := g.session.Snapshot()
	flags := "N"
	if seen.Subscribed() {
		flags = "P"
	}
	return fmt.Sprintf("id=%d addr=%s name=%s flags=%s db=%d sub=%d psub=%d user=%s resp=%d\n",
		seen.ID, g.addr(), seen.Name, flags, seen.DB, seen.Channels, seen.Patterns, seen.User, seen.Proto)
}

func (g *guest) addr() string { return fmt.Sprintf("10.0.0.1:%d", 1000+g.session.ID()) }

func (g *guest) matches(f ClientFilter) bool {
	return !g.gone &&
		(f.IDs == nil || slices.Contains(f.IDs, g.session.ID())) &&
		(f.Type == "" || f.Type == "normal" && !g.session.Snapshot().Subscribed() || f.Type == "pubsub" && g.session.Snapshot().Subscribed()) &&
		(f.Addr == "" || f.Addr == g.addr()) && f.LAddr == "" && f.MaxAge == 0
}

// lines writes a reply in the notation of conversations, as the protocol has it.
func lines(to []string, r Reply, proto int) []string {
	head := func(kind string, n int) {
		if proto == 2 && kind == "%" {
			kind, n = "*", 2*n
		}
		if proto == 2 {
			kind = "*"
		}
		to = append(to, kind+strconv.Itoa(n))
		for _, elem := range r.Elems {
			to = lines(to, elem, proto)
		}
	}
	switch r.Kind {
	case SimpleReply:
		return append(to, "+"+r.Str)
	case ErrorReply:
		return append(to, "-"+r.Str)
	case IntegerReply:
		return append(to, ":"+strconv.FormatInt(r.Int, 10))
	case BulkReply, VerbatimReply:
		return append(to, "$"+r.Str)
	case DoubleReply:
		if proto == 2 {
			return append(to, "$"+r.Str)
		}
		return append(to, ","+r.Str)
	case PairsReply:
		if proto == 2 {
			head("*", len(r.Elems))
			break
		}
		to = append(to, "*"+strconv.Itoa(len(r.Elems)/2))
		for pair := range slices.Chunk(r.Elems, 2) {
			to = lines(to, Array(pair...), proto)
		}
	case NullReply, NullArrayReply:
		return append(to, "_")
	case ArrayReply:
		head("*", len(r.Elems))
	case SetReply:
		head("~", len(r.Elems))
	case SeveralReplies:
		for _, elem := range r.Elems {
			to = lines(to, elem, proto)
		}
	case PushReply:
		head(">", len(r.Elems))
	case MapReply:
		head("%", len(r.Elems)/2)
	default:
		panic(fmt.Sprintf("a reply of kind %d", r.Kind))
	}
	return to
}
