package admin

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"redlock-proxy/quorum"
)

func TestReadinessTellsItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		password := "secret"
		r := newRigWith(t, func() string { return password }, Config{})
		masters := []quorum.MasterStatus{{Name: "10.0.0.1:6379"}, {Name: "10.0.0.2:6379"}, {Name: "10.0.0.3:6379"}}
		const hindrance = "not all masters are marked, and none has voted yet: locks 5m0s after 10.0.0.3:6379 can be marked, too"
		for _, row := range []struct {
			ready, draining bool
			status          quorum.Status
			code            int
			stranger, known string
		}{
			{true, false, quorum.Status{}, 200, "", ""},
			{false, true, quorum.Status{}, 503, "this proxy is shutting down", "this proxy is shutting down"},
			{false, false, quorum.Status{Quorum: 2, CanVote: 2, Masters: masters}, 200, "", ""},
			{false, false, quorum.Status{Quorum: 2, CanVote: 1, Shortage: "1 down, 1 quarantined (4m51s left)", Masters: masters}, 503,
				"NOQUORUM 1 of 3 masters can vote, 2 are needed: 1 down, 1 quarantined (4m51s left)",
				"NOQUORUM 1 of 3 masters can vote, 2 are needed: 1 down, 1 quarantined (4m51s left)"},
			{false, false, quorum.Status{Quorum: 2, Shortage: "2 quarantined, 1 down", Hindrance: hindrance, Masters: masters}, 503,
				"NOQUORUM 0 of 3 masters can vote, 2 are needed: 2 quarantined, 1 down",
				"NOQUORUM 0 of 3 masters can vote, 2 are needed: " + hindrance},
			{false, false, quorum.Status{Quorum: 2, Masters: masters}, 503,
				"NOQUORUM 0 of 3 masters can vote, 2 are needed", "NOQUORUM 0 of 3 masters can vote, 2 are needed"},
		} {
			r.source.ready, r.source.draining, r.source.status = row.ready, row.draining, row.status
			for who, want := range map[string]string{"": row.stranger, basic("default", password): row.known} {
				headers := []string{"X: x"}
				if who != "" {
					headers = append(headers, who)
				}
				a := r.ask("GET /readyz", headers...)
				var got map[string]any
				if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.header.Get("Content-Type") != "application/json" {
					t.Fatalf("%s, %v", a.body, err)
				}
				cause, _ := got["cause"].(string)
				if a.code != row.code || got["ready"] != (row.code == 200) || cause != want || (len(got) == 1) != (want == "") {
					t.Errorf("%d %s, want %d with the cause %q", a.code, a.body, row.code, want)
				}
				if who == "" && strings.Contains(a.body, "10.0.0") {
					t.Errorf("a stranger is told where masters are: %s", a.body)
				}
			}
		}
		password = "" // so that everybody is known
		r.source.status = quorum.Status{Quorum: 2, Hindrance: hindrance, Masters: masters}
		if a := r.ask("GET /readyz"); !strings.Contains(a.body, hindrance) {
			t.Errorf("where no password is asked for the cause is %s", a.body)
		}
		if a := r.ask("GET /livez"); a.code != 200 || a.body != "ok\n" {
			t.Errorf("it lives, and answers %d %q", a.code, a.body)
		}
		r.end()
	})
}
