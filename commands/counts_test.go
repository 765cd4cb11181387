package commands

import (
	"slices"
	"testing"

	"redlock-proxy/quorum"
)

// surveyed is what masters answer to a survey; an empty text is no answer.
func surveyed(kind quorum.ReplyKind, texts ...string) quorum.Result {
	r := quorum.Result{Decision: quorum.Won, Needed: len(texts)/2 + 1}
	for _, text := range texts {
		a := quorum.SurveyAnswer{Given: text != ""}
		if a.Reply.Kind = kind; kind == quorum.IntegerReply && text == "1" {
			a.Reply.Int = 1
		}
		a.Reply.Str = text
		r.Answers = append(r.Answers, a)
	}
	return r
}

func TestTheKeyspaceIsWhatAQuorumHolds(t *testing.T) {
	bulk, integer := quorum.BulkReply, quorum.IntegerReply
	info := func(db0, db3 string) string { return "# Keyspace\r\n" + db0 + db3 }
	a := info("db0:keys=8,expires=6,avg_ttl=7\r\n", "db3:keys=2,expires=1,avg_ttl=0\r\n")
	b := info("db0:keys=5,expires=4,avg_ttl=7,subexpiry=0\r\n", "")
	c := info("db0:keys=3,expires=1,avg_ttl=7\r\n", "db3:keys=1,expires=0,avg_ttl=0\r\n")
	for name, row := range map[string]struct {
		results []quorum.Result
		want    []string
	}{
		"without the proxy's own":       {[]quorum.Result{surveyed(bulk, a, b, c), surveyed(integer, "1", "1", "1"), surveyed(integer, "1", "1", "1")}, []string{"db0:keys=4,expires=4,avg_ttl=0"}},
		"where there is no marker":      {[]quorum.Result{surveyed(bulk, a, b, c), surveyed(integer, "0", "0", "0"), surveyed(integer, "0", "0", "0")}, []string{"db0:keys=5,expires=4,avg_ttl=0", "db3:keys=1,expires=0,avg_ttl=0"}},
		"a master is silent":            {[]quorum.Result{surveyed(bulk, a, "", c), surveyed(integer, "1", "1", "1"), surveyed(integer, "1", "1", "1")}, []string{"db0:keys=2,expires=1,avg_ttl=0"}},
		"silent about its marker":       {[]quorum.Result{surveyed(bulk, a, b, c), surveyed(integer, "1", "", "1"), surveyed(integer, "1", "", "")}, []string{"db0:keys=2,expires=1,avg_ttl=0"}},
		"most are silent":               {[]quorum.Result{surveyed(bulk, a, "", ""), surveyed(integer, "1", "1", "1"), surveyed(integer, "1", "1", "1")}, nil},
		"nobody was asked":              {[]quorum.Result{{}, {}, {}}, nil},
		"a master denies it":            {[]quorum.Result{surveyed(quorum.FailureReply, a, b, c), surveyed(integer, "1", "1", "1"), surveyed(integer, "1", "1", "1")}, nil},
		"a master says something queer": {[]quorum.Result{surveyed(bulk, "db0:keys=x,expires", "db0:", "db0"), surveyed(integer, "1", "1", "1"), surveyed(integer, "1", "1", "1")}, nil},
	} {
		if got := Keyspace([]int{0, 3}, row.results); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
