package integration

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// watch is a proxy's admin listener, as it is asked from outside.
type watch struct {
	t      *testing.T
	url    string
	client http.Client
}

// adminOf is that of a proxy, which says in its log where it is.
func adminOf(t *testing.T, p *Proxy) *watch {
	t.Helper()
	w := &watch{t: t, client: http.Client{Timeout: patience}}
	eventually(t, func() error {
		said := regexp.MustCompile(`the admin listener is open: at=(\S+)`).FindStringSubmatch(p.Log())
		if said == nil {
			return fmt.Errorf("the proxy has no admin listener\n%s", p.Log())
		}
		w.url = said[1]
		return nil
	})
	return w
}

func (w *watch) get(path string) (code int, body string) {
	w.t.Helper()
	resp, err := w.client.Get(w.url + path)
	must(w.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(w.t, err)
	return resp.StatusCode, string(b)
}

// metrics are all of one scrape, by their names with their labels.
func (w *watch) metrics() map[string]float64 {
	w.t.Helper()
	code, text := w.get("/metrics")
	if code != http.StatusOK {
		w.t.Fatalf("/metrics: %d\n%s", code, text)
	}
	return readMetrics(w.t, text)
}

func readMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	values := make(map[string]float64)
	for line := range strings.Lines(text) {
		name, value, ok := cutLast(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		must(t, err)
		values[name] = n
	}
	return values
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// awaits scrapes until the metrics are these.
func (w *watch) awaits(want map[string]float64) {
	w.t.Helper()
	eventually(w.t, func() error {
		got := w.metrics()
		for name, value := range want {
			if n, ok := got[name]; !ok || n != value {
				return fmt.Errorf("%s is %v (there: %v), want %v", name, n, ok, value)
			}
		}
		return nil
	})
}

// readiness is what /readyz says.
func (w *watch) readiness() (code int, ready bool, cause string) {
	w.t.Helper()
	code, body := w.get("/readyz")
	var says struct {
		Ready bool
		Cause string
	}
	must(w.t, json.Unmarshal([]byte(body), &says))
	return code, says.Ready, says.Cause
}

func state(m *Redis, state string) string {
	return fmt.Sprintf("redlock_master_state{master=%q,state=%q}", m.Addr, state)
}

func TestMetricsShowAMasterThatIsKilled(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--admin-listen", "127.0.0.1:0")
	w := adminOf(t, p)
	c := dial(t, p.Addr)
	cycle(c, "k")
	w.awaits(map[string]float64{
		"redlock_ready": 1, "redlock_masters": 3, "redlock_masters_voting": 3, "redlock_quorum_size": 2,
		state(masters[2], "voting"): 1, state(masters[2], "down"): 0,
		`redlock_decisions_total{decision="won",kind="acquire"}`: 1,
	})
	if code, ready, cause := w.readiness(); code != 200 || !ready || cause != "" {
		t.Errorf("with three masters: %d, %v, %q", code, ready, cause)
	}

	must(t, masters[2].Kill())
	w.awaits(map[string]float64{"redlock_ready": 1, "redlock_masters_voting": 2, state(masters[2], "voting"): 0, state(masters[2], "down"): 1, state(masters[1], "voting"): 1})
	cycle(c, "k")
	if code, ready, _ := w.readiness(); code != 200 || !ready {
		t.Errorf("with two masters: %d, %v", code, ready)
	}

	must(t, masters[1].Kill())
	w.awaits(map[string]float64{"redlock_ready": 0, "redlock_masters_voting": 1, state(masters[1], "down"): 1})
	if code, ready, cause := w.readiness(); code != 503 || ready || cause != "NOQUORUM 1 of 3 masters can vote, 2 are needed: 2 down" {
		t.Errorf("with one master: %d, %v, %q", code, ready, cause)
	}
	c.wantNoQuorum(acquireArgs("k", "t", ttl)...)
	if n := w.metrics()[`redlock_decisions_total{decision="unavailable",kind="acquire"}`]; n != 1 {
		t.Errorf("%v acquires are undecided, want 1", n)
	}
	if code, body := w.get("/livez"); code != 200 || body != "ok\n" {
		t.Errorf("it lives, and answers %d %q", code, body)
	}

	must(t, masters[1].Restart())
	must(t, masters[2].Restart())
	eventually(t, func() error {
		if n := w.metrics()["redlock_quarantined"]; n != 2 {
			return fmt.Errorf("%v quarantines last, want 2", n)
		}
		return nil
	})
	if _, _, cause := w.readiness(); !regexp.MustCompile(`^NOQUORUM 1 of 3 masters can vote, 2 are needed: .*(quarantined|catching-up) \(up to .* left\)$`).MatchString(cause) {
		t.Errorf("with two that forgot: %q", cause)
	}
}

// Whoever reads the metrics reads what INFO tells.
func TestMetricsAreTheFiguresOfInfo(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--admin-listen", "127.0.0.1:0")
	w := adminOf(t, p)
	c := dial(t, p.Addr)
	for range 5 {
		cycle(c, "k")
	}
	c.do("NOSUCH")
	c.send("SUBSCRIBE", "channel")
	c.receive([]any{"subscribe", "channel", int64(1)})
	other := dial(t, p.Addr)
	var m map[string]float64
	eventually(t, func() (err error) { // connections that were closed are there for a moment
		info := other.text("INFO", "everything")
		m = w.metrics()
		for field, metric := range map[string]string{
			"connected_clients": "redlock_clients", "maxclients": "redlock_clients_max", "pubsub_clients": "redlock_clients_subscribed", "pubsub_channels": "redlock_pubsub_channels",
			"total_connections_received": "redlock_connections_total", "total_error_replies": "redlock_error_replies_total", "maxmemory_clients": "redlock_client_memory_max_bytes",
			"ready": "redlock_ready", "quorum": "redlock_quorum_size", "masters": "redlock_masters", "undos": "redlock_undos_total", "subscriptions": "redlock_subscriptions",
			"collapsed": "redlock_shared_total", "debts_owed": "redlock_debts_owed_total", "quarantines": "redlock_quarantines_total",
		} {
			found := regexp.MustCompile(`(?m)^` + field + `:(.*)\r$`).FindStringSubmatch(info)
			if got, ok := m[metric]; found == nil || !ok || strconv.FormatFloat(got, 'f', -1, 64) != found[1] {
				err = errors.Join(err, fmt.Errorf("INFO: %s, the metrics: %s %v", found, metric, got))
			}
		}
		if m["redlock_subscriptions"] != 3 || m["redlock_clients"] != 2 || m["redlock_clients_subscribed"] != 1 {
			err = errors.Join(err, fmt.Errorf("%v clients, %v of them listen, to %v masters", m["redlock_clients"], m["redlock_clients_subscribed"], m["redlock_subscriptions"]))
		}
		return err
	})
	for kind, decided := range map[string]float64{"acquire": 10, "extend": 5, "read": 5, "release": 5, "remove": 0} {
		if n := m[fmt.Sprintf(`redlock_decision_duration_seconds_count{kind=%q}`, kind)]; n != decided {
			t.Errorf("of kind %s %v were timed, want %v", kind, n, decided)
		}
	}
	if m[`redlock_commands_total{command="set"}`] != 10 || m[`redlock_errors_total{error="ERR"}`] != 1 {
		t.Errorf("%v SETs, %v errors", m[`redlock_commands_total{command="set"}`], m[`redlock_errors_total{error="ERR"}`])
	}
	for _, r := range masters {
		granted := m[fmt.Sprintf(`redlock_master_votes_total{master=%q,vote="granted"}`, r.Addr)]
		batches, commands := m[fmt.Sprintf(`redlock_master_batch_commands_count{master=%q}`, r.Addr)], m[fmt.Sprintf(`redlock_master_batch_commands_sum{master=%q}`, r.Addr)]
		if granted == 0 || batches == 0 || commands < batches || m[fmt.Sprintf(`redlock_master_round_trip_seconds{master=%q}`, r.Addr)] <= 0 {
			t.Errorf("master %s: granted %v, %v commands in %v batches", r.Addr, granted, commands, batches)
		}
	}
}

// What clients must show is asked of who watches as well.
func TestAdminListenerAsksForClientCertificates(t *testing.T) {
	t.Parallel()
	certificates, err := NewCertificates(t.TempDir())
	must(t, err)
	masters := startMasters(t, 1)
	p := launch(t, ProxyOptions{Args: append(flags(masters), "--admin-listen", "127.0.0.1:0", "--admin-tls", "yes",
		"--tls-cert-file", certificates.ServerCert, "--tls-key-file", certificates.ServerKey, "--tls-ca-cert-file", certificates.CA)})
	w := adminOf(t, p)
	if !strings.HasPrefix(w.url, "https://") {
		t.Errorf("it is at %s", w.url)
	}
	ask := func(config *tls.Config) error {
		client := http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
		resp, err := client.Get(w.url + "/metrics")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 1 {
			return fmt.Errorf("%s %s", resp.Proto, resp.Status)
		}
		return nil
	}
	must(t, ask(certificates.Client()))
	if err := ask(certificates.Anonymous()); err == nil {
		t.Error("who shows no certificate is answered")
	}
}
