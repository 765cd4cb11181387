package commands

import (
	"fmt"
	"testing"

	"redlock-proxy/integration/transcript"
	"redlock-proxy/quorum"
)

func results(m *master, a Action) []quorum.Result {
	results := make([]quorum.Result, len(a.Requests))
	for i, r := range a.Requests {
		results[i] = m.put(r)
	}
	return results
}

// options are those of a real Redis as far as the conversations ask.
func options(password string) Options {
	return Options{
		Version:  "7.0.15",
		Password: func() string { return password },
		Settings: func() map[string]string {
			return map[string]string{"timeout": "0", "databases": "1", "appendonly": "no", "save": "",
				"replica-read-only": "yes", "slave-read-only": "yes"}
		},
	}
}

func TestConversationsReadAsWritten(t *testing.T) {
	files, err := transcript.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, proto := range []int{2, 3} {
			t.Run(fmt.Sprintf("%s/RESP%d", file.Name, proto), func(t *testing.T) {
				h := newHouse(options(file.Password))
				transcript.Run(t, file, transcript.Target{
					Side: transcript.Proxy, Proto: proto, Dial: h.dial, Wait: h.wait, Masters: h.masters,
				})
				for _, g := range h.guests {
					if len(g.replies) > 0 {
						t.Errorf("client %d got %d replies more than the conversation tells", g.session.ID(), len(g.replies))
					}
				}
			})
		}
	}
}
