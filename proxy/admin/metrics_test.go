package admin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

// scraped is what a source's metrics are, as they go over the line.
func scraped(t *testing.T, source *fakeSource) (text string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.source.figures, r.source.status = source.figures, source.status
		a := r.ask("GET /metrics")
		if a.code != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain; version=0.0.4") || r.log.Len() > 0 {
			t.Errorf("%d %s, and the log: %s", a.code, a.header.Get("Content-Type"), r.log)
		}
		text = a.body
		r.end()
	})
	return text
}

// full is a source of which each figure is another one.
func full() *fakeSource {
	f := proxy.Figures{
		Version: "1.2.3", Ready: true, Clients: 101, MaxClients: 102, Subscribed: 103, Waiting: 136, Tracking: proxy.TrackingFigures{Clients: 150, Keys: 151, Items: 152, Prefixes: 153}, WaitedGranted: 137, WaitedRefused: 138, LongestInput: 104, LongestOutput: 105,
		ClientMemory: 106, MaxClientMemory: 107, MastersMemory: 108, Channels: 109, ShardChannels: 139, Patterns: 110, Scripts: 140, ScriptBytes: 141, Connections: 111, Rejected: 112,
		QueryLimit: 113, OutputLimit: 114, Evicted: 115, WrongPasswords: 116, Denied: [6]uint64{1: 131, 132, 133, 5: 134}, Delayed: 135, BytesIn: 117, BytesOut: 118, ErrorReplies: 119,
		Errors:         map[string]uint64{"ERR": 120, "NOQUORUM": 121},
		Commands:       []proxy.CommandFigures{{Name: "client|list", Calls: 122, Rejected: 123, Failed: 124, Took: 125 * time.Second}},
		UndeliveredOKs: 126, ToilingScripts: 127, LocksSeen: 128, LogLinesLost: 128, AuditLinesLost: 129,
	}
	f.Latencies[quorum.Acquire] = proxy.Latency{Counts: [14]uint64{1, 0, 2, 13: 4}, Sum: 129 * time.Second}
	st := quorum.Status{
		Quorum: 2, CanVote: 1, Splits: 201, Shared: 202, Undos: 203, UndosMissed: 204, Heals: 205,
		DebtsOwed: 206, DebtsPaid: 207, DebtsNeedless: 208, DebtsDropped: 209, DebtsLeft: 210, OverMaxTTL: 211, MaxHoldEnds: 212,
		Quarantines: 213, Quarantined: 214, CatchUps: 215, CatchUpKeys: 216, InFlight: 217,
		Subscriptions: 218, MessagesPublished: 219, MessagesShort: 220, MessagesReceived: 221,
	}
	st.Decisions[quorum.Run][quorum.Contended] = 222
	st.Masters = []quorum.MasterStatus{
		{Name: "10.0.0.1:6379", State: quorum.Voting, Since: time.Unix(1700000000, 500_000_000), RunID: "abc", Version: "7.0.15",
			RoundTrip: 301 * time.Microsecond, ClockKnown: true, ClockOffset: -302 * time.Microsecond,
			Granted: 303, Refused: 304, Unknown: 305, Withheld: 306, Unasked: 307, Queue: 308, InBatch: 309, Debts: 310, DebtBytes: 311, Reconnects: 312,
			Batches: [quorum.BatchSizes]uint64{1, 2, 11: 5}, Batched: 313,
			Elsewhere: []quorum.MasterStatus{{DB: 3, State: quorum.Quarantined}}},
		{Name: "10.0.0.2:6379", State: quorum.CatchingUp, Left: 314 * time.Second, CatchUp: quorum.CatchUp{Copied: 315, Sources: 1, Needed: 2}},
		{Name: "10.0.0.3:6379", State: quorum.Quarantined, Reason: "it waits for another"},
	}
	return &fakeSource{figures: f, status: st}
}

func TestMetricsTellEachFigure(t *testing.T) {
	text := scraped(t, full())
	lines := strings.Split(text, "\n")
	for _, want := range strings.Split(strings.TrimSpace(wholePicture), "\n") {
		if !slices.Contains(lines, want) {
			name, _, _ := strings.Cut(want, " ")
			t.Errorf("want %s\n got %s", want, strings.Join(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, name) }), "\n     "))
		}
	}
	for _, none := range []string{
		`redlock_master_round_trip_seconds{master="10.0.0.2:6379"}`, `redlock_master_clock_offset_seconds{master="10.0.0.2:6379"}`,
		`redlock_master_state_since_timestamp_seconds{master="10.0.0.2:6379"}`, `redlock_master_quarantine_left_seconds{master="10.0.0.3:6379"}`,
	} {
		if strings.Contains(text, none) {
			t.Errorf("%s is told, and not known", none)
		}
	}
	for _, theirs := range []string{"go_goroutines ", "go_memstats_heap_alloc_bytes ", "process_open_fds ", "process_cpu_seconds_total ", "process_resident_memory_bytes "} {
		if !strings.Contains(text, "\n"+theirs) {
			t.Errorf("there is no %s", theirs)
		}
	}
}

const wholePicture = `
redlock_ready 1
redlock_draining 0
redlock_log_lines_lost_total 128
redlock_audit_lines_lost_total 129
redlock_clients 101
redlock_clients_max 102
redlock_clients_subscribed 103
redlock_clients_waiting 136
redlock_clients_tracking 150
redlock_tracked_keys 151
redlock_tracked_items 152
redlock_tracked_prefixes 153
redlock_waits_total{outcome="granted"} 137
redlock_waits_total{outcome="refused"} 138
redlock_client_longest_input_bytes 104
redlock_client_longest_output_bytes 105
redlock_client_memory_bytes 106
redlock_client_memory_max_bytes 107
redlock_masters_memory_bytes 108
redlock_pubsub_channels 109
redlock_pubsub_patterns 110
redlock_pubsub_shard_channels 139
redlock_scripts_cached 140
redlock_scripts_cached_bytes 141
redlock_connections_total 111
redlock_connections_rejected_total 112
redlock_clients_cut_off_total{reason="query"} 113
redlock_clients_cut_off_total{reason="output"} 114
redlock_clients_cut_off_total{reason="memory"} 115
redlock_wrong_passwords_total 116
redlock_denied_total{reason="command"} 131
redlock_denied_total{reason="key"} 132
redlock_denied_total{reason="channel"} 133
redlock_denied_total{reason="limit"} 134
redlock_commands_delayed_total 135
redlock_network_input_bytes_total 117
redlock_network_output_bytes_total 118
redlock_error_replies_total 119
redlock_errors_total{error="ERR"} 120
redlock_errors_total{error="NOQUORUM"} 121
redlock_commands_total{command="client|list"} 122
redlock_commands_rejected_total{command="client|list"} 123
redlock_commands_failed_total{command="client|list"} 124
redlock_commands_seconds_total{command="client|list"} 125
redlock_undelivered_oks_total 126
redlock_toiling_scripts_total 127
redlock_locks_held 128
redlock_decision_duration_seconds_bucket{kind="acquire",le="0.0001"} 1
redlock_decision_duration_seconds_bucket{kind="acquire",le="0.00025"} 1
redlock_decision_duration_seconds_bucket{kind="acquire",le="0.0005"} 3
redlock_decision_duration_seconds_bucket{kind="acquire",le="1"} 3
redlock_decision_duration_seconds_bucket{kind="acquire",le="+Inf"} 7
redlock_decision_duration_seconds_sum{kind="acquire"} 129
redlock_decision_duration_seconds_count{kind="acquire"} 7
redlock_decision_duration_seconds_count{kind="survey"} 0
redlock_quorum_size 2
redlock_masters 3
redlock_masters_voting 1
redlock_splits_total 201
redlock_shared_total 202
redlock_undos_total 203
redlock_undos_missed_total 204
redlock_heals_total 205
redlock_debts_owed_total 206
redlock_debts_ended_total{outcome="paid"} 207
redlock_debts_ended_total{outcome="needless"} 208
redlock_debts_ended_total{outcome="dropped"} 209
redlock_debts_left 210
redlock_over_max_ttl_total 211
redlock_max_hold_ends_total 212
redlock_quarantines_total 213
redlock_quarantined 214
redlock_catch_ups_total 215
redlock_catch_up_keys_total 216
redlock_in_flight 217
redlock_subscriptions 218
redlock_messages_published_total 219
redlock_messages_short_total 220
redlock_messages_received_total 221
redlock_decisions_total{decision="contended",kind="script"} 222
redlock_decisions_total{decision="won",kind="acquire"} 0
redlock_master_state{master="10.0.0.1:6379",state="voting"} 1
redlock_master_state{master="10.0.0.1:6379",state="down"} 0
redlock_master_state{master="10.0.0.2:6379",state="catching-up"} 1
redlock_master_state{master="10.0.0.3:6379",state="quarantined"} 1
redlock_master_elsewhere{database="3",master="10.0.0.1:6379",state="quarantined"} 1
redlock_master_info{master="10.0.0.1:6379",run_id="abc",version="7.0.15"} 1
redlock_master_state_since_timestamp_seconds{master="10.0.0.1:6379"} 1.7000000005e+09
redlock_master_round_trip_seconds{master="10.0.0.1:6379"} 0.000301
redlock_master_clock_offset_seconds{master="10.0.0.1:6379"} -0.000302
redlock_master_votes_total{master="10.0.0.1:6379",vote="granted"} 303
redlock_master_votes_total{master="10.0.0.1:6379",vote="refused"} 304
redlock_master_votes_total{master="10.0.0.1:6379",vote="unknown"} 305
redlock_master_votes_total{master="10.0.0.1:6379",vote="withheld"} 306
redlock_master_votes_total{master="10.0.0.1:6379",vote="unasked"} 307
redlock_master_queue{master="10.0.0.1:6379"} 308
redlock_master_in_batch{master="10.0.0.1:6379"} 309
redlock_master_debts{master="10.0.0.1:6379"} 310
redlock_master_debts_bytes{master="10.0.0.1:6379"} 311
redlock_master_reconnects_total{master="10.0.0.1:6379"} 312
redlock_master_batch_commands_bucket{master="10.0.0.1:6379",le="1"} 1
redlock_master_batch_commands_bucket{master="10.0.0.1:6379",le="2"} 3
redlock_master_batch_commands_bucket{master="10.0.0.1:6379",le="1024"} 3
redlock_master_batch_commands_bucket{master="10.0.0.1:6379",le="+Inf"} 8
redlock_master_batch_commands_sum{master="10.0.0.1:6379"} 313
redlock_master_quarantine_left_seconds{master="10.0.0.1:6379"} 0
redlock_master_quarantine_left_seconds{master="10.0.0.2:6379"} 314
redlock_master_catch_up_copied_keys{master="10.0.0.2:6379"} 315
redlock_master_catch_up_sources{master="10.0.0.2:6379"} 1
redlock_master_catch_up_sources_needed{master="10.0.0.2:6379"} 2
`

// Whoever reads the table above misses nothing: each family is in it.
func TestEachMetricIsLookedAt(t *testing.T) {
	for _, help := range regexp.MustCompile(`(?m)^# HELP (redlock_\w+)`).FindAllStringSubmatch(scraped(t, full()), -1) {
		if !strings.Contains(wholePicture, "\n"+help[1]) && help[1] != "redlock_build_info" {
			t.Errorf("nobody looks at %s", help[1])
		}
	}
}

func TestMetricsAreNamedAsPrometheusHasIt(t *testing.T) {
	text := scraped(t, full())
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "redlock_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// A script chooses the words of its errors, and a master what it calls itself.
func TestMetricsAreReadWhateverOthersSay(t *testing.T) {
	source := &fakeSource{}
	source.figures.Errors = map[string]uint64{"\xff": 1, `\xff`: 2, "a\"b\n": 3, strings.Repeat("x", maxLabel) + "a": 4, strings.Repeat("x", maxLabel) + "b": 5, strings.Repeat("é", maxLabel): 6}
	source.status.Masters = []quorum.MasterStatus{{Name: "unix:///\xfe", RunID: "\xff\n", Version: strings.Repeat("7", 1000), State: quorum.Down}}
	text := scraped(t, source)
	for _, want := range []string{
		`redlock_errors_total{error="\\xff"} 3`, `redlock_errors_total{error="a\"b\n"} 3`, `redlock_errors_total{error="` + strings.Repeat("x", maxLabel) + `"} 9`,
		`redlock_errors_total{error="` + strings.Repeat("é", maxLabel/2) + `"} 6`,
		`redlock_master_info{master="unix:///\\xfe",run_id="\\xff\\n",version="` + strings.Repeat("7", maxLabel) + `"} 1`,
		`redlock_master_state{master="unix:///\\xfe",state="down"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("want %s", want)
		}
	}
}

func TestScrapesSeeWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		for _, state := range []quorum.State{quorum.Voting, quorum.Down, quorum.Quarantined, quorum.Voting} {
			voting := 0
			if state == quorum.Voting {
				voting = 1
			}
			r.source.status = quorum.Status{Quorum: 1, CanVote: voting, Masters: []quorum.MasterStatus{{Name: "a", State: state}}}
			r.source.figures.Ready = voting == 1
			text := r.ask("GET /metrics").body
			for _, want := range []string{
				fmt.Sprintf("redlock_master_state{master=\"a\",state=\"voting\"} %d", voting),
				fmt.Sprintf("redlock_master_state{master=\"a\",state=%q} 1", state), fmt.Sprintf("redlock_ready %d", voting),
			} {
				if !strings.Contains(text, "\n"+want+"\n") {
					t.Errorf("while it is %v there is no %s", state, want)
				}
			}
		}
		r.end()
	})
}
