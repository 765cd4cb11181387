package commands

import (
	"reflect"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// What only reads is told of a ttl, and of one that is over masters are asked for how long they hold it.
func TestWhatReadsIsToldHowItsTTLIsCounted(t *testing.T) {
	w, d := newWatcher()
	s := d.Session(1)
	note := func(key string, what registry.What, ttl time.Duration) {
		w.seen.Note(&registry.Act{What: what, Key: key, Signs: registry.SignedBy("t"), TTL: ttl, At: w.now, By: &registry.Origin{}})
	}
	note("k", registry.Granted, 30*time.Second)
	note("over", registry.Granted, 2*time.Second)
	note("long", registry.Granted, time.Second)
	note("for:ever", registry.Granted, registry.NoTTL)
	w.now += 3 * time.Second
	sign := uint64(registry.SignOf("t"))
	there := quorum.Counted{TTL: 30 * time.Second, Left: 27 * time.Second, Sign: sign}
	over := quorum.Counted{TTL: 2 * time.Second, Left: -time.Second, Sign: sign}
	long := quorum.Counted{TTL: time.Second, Left: -2 * time.Second, Sign: sign}
	reading := func(key string, c quorum.Counted, valueOnly bool) quorum.Request {
		return quorum.Request{Kind: quorum.Read, Key: key, Counted: c, ValueOnly: valueOnly}
	}
	none := quorum.Counted{}
	for line, want := range map[string][]quorum.Request{
		"GET k":                 {reading("k", there, true)},
		"GET over":              {reading("over", over, false)},
		"GET long":              {reading("long", long, true)}, // masters have it no more
		"GET for:ever":          {reading("for:ever", none, true)},
		"GET other":             {reading("other", none, true)},
		"STRLEN over":           {reading("over", over, false)},
		"GETRANGE over 0 1":     {reading("over", over, false)},
		"GETEX over":            {reading("over", over, false)},
		"MGET k over":           {reading("k", there, true), reading("over", over, false)},
		"EXISTS k over":         {reading("k", there, false), reading("over", over, false)},
		"PTTL k":                {reading("k", there, false)},
		"TYPE over":             {reading("over", over, false)},
		"HGET k f":              running(plainScript, "HGET", "k", "f"),
		"WATCH over":            {reading("over", none, true)}, // what follows writes
		"GETSET over v":         {{Kind: quorum.Read, Key: "over", ValueOnly: true}},
		"INCR over":             {{Kind: quorum.Run, Script: countUp, Key: "over", Keys: []string{"over"}, Args: []string{"INCR", "over"}}},
		"SET over t NX PX 1000": {{Kind: quorum.Acquire, Key: "over", Token: "t", TTL: time.Second}},
		"HGET over f":           {{Kind: quorum.Run, Script: unlessOverScript, Key: "over", Keys: []string{"over", nothing}, Args: []string{"HGET", "over", "f", "2000", "-1000"}}},
		"OBJECT ENCODING over":  {{Kind: quorum.Run, Script: unlessOverScript, Key: "over", Keys: []string{"over", nothing}, Args: []string{"OBJECT", "ENCODING", "over", "2000", "-1000"}}},
		"HGET long f":           {{Kind: quorum.Run, Script: plainScript, Key: "long", Keys: []string{"long"}, Args: []string{"HGET", "long", "f"}}},
	} {
		if got := do(t, s, line).Requests; !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", line, got, want)
		}
		do(t, s, "UNWATCH")
	}
	for _, r := range do(t, s, "LOCK INFO k").Requests {
		if r.Counted != none {
			t.Errorf("LOCK INFO is about what masters hold: %+v", r)
		}
	}
}
