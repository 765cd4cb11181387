package promql

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// cases are, for each alert, metrics of twenty minutes at whose end it fires, and such at whose
// end it does not. There is a line a series, with a value a minute: "0+2x20" grows by two.
var cases = map[string]struct{ fires, rests string }{
	"RedlockProxyNotScraped": {`up{job="redlock-proxy",instance="a"} 0x20`, `up{job="redlock-proxy",instance="a"} 1x20`},
	"RedlockNoQuorum": {`redlock_ready{instance="a"} 0x20
		redlock_draining{instance="a"} 0x20`, `redlock_ready{instance="a"} 0x20
		redlock_draining{instance="a"} 1x20
		redlock_ready{instance="b"} 1x20
		redlock_draining{instance="b"} 0x20`},
	"RedlockOneFailureFromNoQuorum": {`redlock_masters_voting 3x20
		redlock_quorum_size 3x20
		redlock_masters 5x20`, `redlock_masters_voting{instance="of three"} 3x20
		redlock_quorum_size{instance="of three"} 2x20
		redlock_masters{instance="of three"} 3x20
		redlock_masters_voting{instance="of one"} 1x20
		redlock_quorum_size{instance="of one"} 1x20
		redlock_masters{instance="of one"} 1x20`},
	"RedlockMasterDown": {`redlock_master_state{master="m",state="down"} 1x20`, `redlock_master_state{master="m",state="down"} 0x20
		redlock_master_state{master="m",state="voting"} 1x20`},
	"RedlockMasterQuarantined": {`redlock_master_state{master="m",state="quarantined"} 0x20
		redlock_master_state{master="m",state="catching-up"} 1x20`, `redlock_master_state{master="m",state="quarantined"} 0x20
		redlock_master_state{master="m",state="catching-up"} 0x20
		redlock_master_state{master="m",state="down"} 1x20`},
	"RedlockMasterDrained": {`redlock_master_state{state="drained"} 1x20`, `redlock_master_state{state="drained"} 0x20`},
	"RedlockMastersForget": {`redlock_quarantines_total 0+1x20`, `redlock_quarantines_total 7+0x20`},
	"RedlockClockOffset":   {`redlock_master_clock_offset_seconds -1.5x20`, `redlock_master_clock_offset_seconds 0.5x20`},
	"RedlockDebtsGrow": {`redlock_debts_left 0+10x20`, `redlock_debts_left{instance="a"} 1000-10x20
		redlock_debts_left{instance="b"} 0+1x20`},
	"RedlockClientsRefused": {`redlock_connections_rejected_total 0+1x20`, `redlock_connections_rejected_total 9+0x20`},
	"RedlockClientsCutOff": {`redlock_clients_cut_off_total{reason="query"} 0x20
		redlock_clients_cut_off_total{reason="memory"} 0+1x20`, `redlock_clients_cut_off_total{reason="memory"} 9+0x20`},
	"RedlockClientMemory": {`redlock_client_memory_bytes 81x20
		redlock_client_memory_max_bytes 100x20`, `redlock_client_memory_bytes 79x20
		redlock_client_memory_max_bytes 100x20`},
	"RedlockNoQuorumAnswers": {`redlock_decisions_total{job="j",instance="a",kind="acquire",decision="unavailable"} 0+60x20
		redlock_ready{job="j",instance="a"} 1x20`, `redlock_decisions_total{job="j",instance="a",kind="acquire",decision="unavailable"} 0+60x20
		redlock_ready{job="j",instance="a"} 0x20
		redlock_decisions_total{job="j",instance="b",kind="acquire",decision="contended"} 0+60x20
		redlock_ready{job="j",instance="b"} 1x20`},
	"RedlockSlow": {`redlock_decision_duration_seconds_bucket{kind="acquire",le="0.1"} 0+98x20
		redlock_decision_duration_seconds_bucket{kind="acquire",le="0.25"} 0+100x20
		redlock_decision_duration_seconds_bucket{kind="acquire",le="+Inf"} 0+100x20`, `redlock_decision_duration_seconds_bucket{kind="acquire",le="0.1"} 0+100x20
		redlock_decision_duration_seconds_bucket{kind="acquire",le="+Inf"} 0+100x20
		redlock_decision_duration_seconds_bucket{kind="script",le="0.1"} 0x20
		redlock_decision_duration_seconds_bucket{kind="script",le="+Inf"} 0+100x20`},
	"RedlockLogLinesLost":   {`redlock_log_lines_lost_total 0+1x20`, `redlock_log_lines_lost_total 9+0x20`},
	"RedlockAuditLinesLost": {`redlock_audit_lines_lost_total 0+1x20`, `redlock_audit_lines_lost_total 9+0x20`},
	"RedlockWrongPasswords": {`redlock_wrong_passwords_total 0+3x20`, `redlock_wrong_passwords_total 0+1x20`},
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1 << 20, Timeout: patience, Parser: parser.NewParser(parser.Options{})})
	for _, alert := range alerts(t) {
		c, ok := cases[alert.where]
		if !ok {
			t.Errorf("%s is not tried", alert.where)
			continue
		}
		if n := found(t, engine, alert.expr, c.fires); n != 1 {
			t.Errorf("%s fires for %d, want 1:\n%s", alert.where, n, c.fires)
		}
		if n := found(t, engine, alert.expr, c.rests); n != 0 {
			t.Errorf("%s fires for %d, want none:\n%s", alert.where, n, c.rests)
		}
	}
}

// found is how many results an expression has at the end of the twentieth minute.
func found(t *testing.T, engine *promql.Engine, expr, metrics string) int {
	t.Helper()
	all := seriesOf(t, metrics)
	queryable := &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return &selected{left: matching(all, matchers)}
		},
	}}
	query, err := engine.NewInstantQuery(context.Background(), queryable, nil, expr, time.Unix(20*60, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	result, err := query.Exec(context.Background()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return len(result)
}

func matching(all []storage.Series, matchers []*labels.Matcher) (some []storage.Series) {
	for _, s := range all {
		fits := true
		for _, m := range matchers {
			fits = fits && m.Matches(s.Labels().Get(m.Name))
		}
		if fits {
			some = append(some, s)
		}
	}
	return some
}

// seriesOf reads lines such as `up{job="a"} 0+1x20`.
func seriesOf(t *testing.T, text string) (list []storage.Series) {
	t.Helper()
	for line := range strings.Lines(text) {
		series, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var samples []chunks.Sample
		for i, v := range values {
			samples = append(samples, sample{int64(i) * time.Minute.Milliseconds(), v.Value})
		}
		list = append(list, storage.NewListSeries(series, samples))
	}
	return list
}

// sample is a chunks.Sample: a value, and when that was, in milliseconds.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// selected is a storage.SeriesSet.
type selected struct {
	left []storage.Series
	at   storage.Series
}

func (s *selected) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.at, s.left = s.left[0], s.left[1:]
	return true
}

func (s *selected) At() storage.Series                { return s.at }
func (s *selected) Err() error                        { return nil }
func (s *selected) Warnings() annotations.Annotations { return nil }
