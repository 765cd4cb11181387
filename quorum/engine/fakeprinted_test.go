package engine

import (
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// A whole proxy before the engine has clients' scripts printed. A fake master knows what they
// are printed from, and takes one for the other.

// printed are clients' scripts as a proxy has them run: by each text that masters may know
// them by.
var printed = map[*quorum.Script]*printedForms{}

type printedForms struct {
	own, constant *master.Script
	chunk         string
}

func formsOf(p *quorum.Script) *printedForms {
	f := journal.FormOf(p)
	return &printedForms{f.Own(), f.Constant(), f.Chunk()}
}

// unprint has what a call runs be the script that was printed, and tells what the master
// answers if it does not know that.
func (m *fakeMaster) unprint(args []string) (rest []string, reply string) {
	if len(printed) == 0 || len(args) < 4 || !strings.HasPrefix(args[0], "EVAL") {
		return args, ""
	}
	for c, p := range printed {
		for _, run := range []*master.Script{p.own, bound(p.own), p.constant, bound(p.constant)} {
			if args[1] != run.SHA && args[1] != run.Text {
				continue
			}
			if args[0] == "EVALSHA" && m.scripts[run.SHA] == nil {
				return args, "-NOSCRIPT No matching script. Please use EVAL.\r\n"
			}
			n, _ := strconv.Atoi(args[2])
			chunk := 3 + n + 2
			if rest = slices.Clone(args); run == p.constant || run == bound(p.constant) {
				if args[chunk] != p.chunk {
					continue
				}
				rest = slices.Delete(rest, chunk, chunk+1)
			}
			m.scripts[run.SHA] = run
			is := journal.FormOf(c).Own()
			if run == bound(p.own) || run == bound(p.constant) {
				is = bound(is)
			}
			rest[0], rest[1] = "EVAL", is.Text
			return rest, ""
		}
	}
	return args, ""
}
