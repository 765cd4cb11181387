package commands

import (
	"maps"
	"slices"
	"strconv"

	"redlock-proxy/commands/glob"
	"redlock-proxy/quorum"
)

// survey is what the one master there is says of its keys, which it has in order.
func (m *master) survey(r quorum.Request) quorum.Result {
	if r.Only > 1 {
		return quorum.Result{Decision: quorum.Unavailable, Answers: make([]quorum.SurveyAnswer, 1)}
	}
	a := quorum.SurveyAnswer{Given: true, Server: "one", Reply: m.surveyed(r.Args)}
	return quorum.Result{Decision: quorum.Won, Answers: []quorum.SurveyAnswer{a}}
}

func (m *master) surveyed(args []string) quorum.ScriptReply {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.keys)) {
		if _, ok := m.find(name); ok {
			names = append(names, name)
		}
	}
	switch lower(args[0]) {
	case "dbsize":
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: int64(len(names))}}
	case "exists":
		_, ok := m.find(args[1])
		if ok {
			return *numbered(1)
		}
		return *numbered(0)
	case "randomkey":
		if len(names) == 0 {
			return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}
		}
		return bulkOf(names[0])
	case "scan":
		return m.scan(args, names)
	}
	clear(m.keys)
	return bulkOf("OK")
}

func (m *master) scan(args, names []string) quorum.ScriptReply {
	at, err := strconv.Atoi(args[1])
	if err != nil {
		panic(err)
	}
	pattern, typ, count := "*", "", 0
	for words := args[2:]; len(words) > 0; words = words[2:] {
		switch words[0] {
		case "MATCH":
			pattern = words[1]
		case "TYPE":
			typ = words[1]
		case "COUNT":
			count, _ = strconv.Atoi(words[1])
		}
	}
	from := min(at, len(names))
	to := min(from+count, len(names))
	var page []quorum.ScriptReply
	for _, name := range names[from:to] {
		if glob.New(pattern).Match(name) && (typ == "" || sameWord(typ, m.keys[name].kind)) {
			page = append(page, bulkOf(name))
		}
	}
	if to == len(names) {
		to = 0
	}
	return arrayOf(bulkOf(strconv.Itoa(to)), arrayOf(page...))
}

func bulkOf(s string) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: s}}
}

func arrayOf(elems ...quorum.ScriptReply) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: elems}
}
