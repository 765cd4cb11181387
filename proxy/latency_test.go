package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

const ms = time.Millisecond

func TestWhatTookLongIsSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Tuning: Tuning{LatencyThreshold: 100 * ms}})
		c := r.dial()
		begun := time.Now().Unix()
		r.wait(c, "k", 99*ms)
		c.send("LATENCY LATEST\r\nLATENCY HISTORY fast-command\r\n")
		c.expect("*0\r\n*0\r\n")
		r.wait(c, "k", 100*ms)
		r.wait(c, "k", 300*ms) // in the same second
		r.wait(c, "k", 200*ms)
		time.Sleep(3 * time.Second)
		r.wait(c, "k", 150*ms)
		at := fmt.Sprintf(":%d\r\n", begun+3)
		c.send("LATENCY LATEST\r\n")
		c.expect("*1\r\n*4\r\n$12\r\nfast-command\r\n" + at + ":150\r\n:300\r\n")
		c.send("LATENCY HISTORY fast-command\r\n")
		c.expect("*2\r\n*2\r\n" + fmt.Sprintf(":%d\r\n", begun) + ":300\r\n*2\r\n" + at + ":150\r\n")
		c.send("LATENCY RESET nosuch fast-command\r\nLATENCY RESET\r\nLATENCY LATEST\r\n")
		c.expect(":1\r\n:0\r\n*0\r\n")
		r.server.Tune(Tuning{})
		r.wait(c, "k", time.Second)
		c.send("LATENCY LATEST\r\n")
		c.expect("*0\r\n")
		r.end()
	})
}

func TestOfAnEventTheLatestSamplesAreKept(t *testing.T) {
	var l latency
	begun := time.Unix(1_700_000_000, 0)
	for i := range 200 {
		l.add("command", "x", begun.Add(time.Duration(i)*time.Second), time.Duration(200-i)*ms)
	}
	samples := l.events["command"].inOrder()
	if len(samples) != 160 || samples[0].took != 160 || samples[159].took != 1 || l.events["command"].longest.took != 200 {
		t.Errorf("%d samples from %d to %d, the longest %d", len(samples), samples[0].took, samples[len(samples)-1].took, l.events["command"].longest.took)
	}
}

func TestTheDoctorNamesWhatWasSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.engine.stands(quorum.Status{Masters: []quorum.MasterStatus{
			{Name: "one", State: quorum.Voting, RoundTrip: 2 * ms},
			{Name: "two", State: quorum.Voting, RoundTrip: 70 * ms},
			{Name: "three", State: quorum.Down, Reason: "dial:\nrefused"},
		}})
		c := r.dial()
		c.send("LATENCY DOCTOR\r\n")
		if text := c.bulk(); !strings.Contains(text, "latency-monitor-threshold is 0") {
			t.Errorf("while nothing is sampled it says %q", text)
		}
		r.server.Tune(Tuning{LatencyThreshold: 50 * ms})
		c.send("LATENCY DOCTOR\r\n")
		if text := c.bulk(); !strings.Contains(text, "No command and no master has taken 50ms or longer") {
			t.Errorf("before anything was slow it says %q", text)
		}
		r.wait(c, "k", 80*ms)
		time.Sleep(2 * time.Second)
		c.send("LATENCY DOCTOR\r\n")
		text := c.bulk()
		for _, part := range []string{
			"fast-command: long in 1 different seconds, 80 ms on average; the longest took 80 ms at 2000-01-01T00:00:00Z (get), the last one ",
			"master-two: long in 2 different seconds, 70 ms on average; ",
			"one: voting, round trip 2ms, 0 requests wait.\n",
			"two: voting, round trip 70ms, 0 requests wait; it is slow: ",
			"three: down, round trip 0s, 0 requests wait; it does not vote: dial: refused.\n",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in %q", part, text)
			}
		}
		if strings.Contains(text, "master-one") {
			t.Errorf("a quick master is among what was slow: %q", text)
		}
		r.end()
	})
}

func TestABucketHasWhatTookNoLonger(t *testing.T) {
	for took, want := range map[time.Duration]int{
		-1: 0, 0: 0, 1: 0, time.Microsecond: 0, time.Microsecond + 1: 1, 2 * time.Microsecond: 1, 2*time.Microsecond + 1: 2,
		4 * time.Microsecond: 2, 5 * time.Microsecond: 3, 1024 * time.Microsecond: 10, 1025 * time.Microsecond: 11, time.Hour: buckets - 1,
	} {
		if got := bucketOf(took); got != want {
			t.Errorf("%v is in bucket %d, want %d", took, got, want)
		}
	}
}

func TestCommandsAreToldByHowLongTheyTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		for range 97 {
			r.wait(c, "k", 3*time.Microsecond)
		}
		r.wait(c, "k", 1*ms)
		r.wait(c, "k", 1*ms)
		r.wait(c, "k", 100*ms)
		c.send("CLIENT ID\r\n")
		c.expect(":1\r\n")
		c.send("LATENCY HISTOGRAM get nosuch GET set\r\n")
		one := "$3\r\nget\r\n*4\r\n$5\r\ncalls\r\n:100\r\n$14\r\nhistogram_usec\r\n*6\r\n:4\r\n:97\r\n:1024\r\n:99\r\n:131072\r\n:100\r\n"
		c.expect("*2\r\n" + one)
		c.send("LATENCY HISTOGRAM client\r\n")
		c.expect("*2\r\n$9\r\nclient|id\r\n*4\r\n$5\r\ncalls\r\n:1\r\n$14\r\nhistogram_usec\r\n*2\r\n:1\r\n:1\r\n")
		c.send("LATENCY HISTOGRAM\r\n")
		c.expect("*6\r\n$9\r\nclient|id\r\n")
		r.server.info(nil)
		if got := r.field("latency_percentiles_usec_get"); got != "p50=4.000,p99=1024.000,p99.9=131072.000" {
			t.Errorf("latencystats tells %s", got)
		}
		if got := r.field("cmdstat_get"); !strings.HasPrefix(got, "calls=100,usec=102291,usec_per_call=1022.91,") {
			t.Errorf("commandstats tells %s", got)
		}
		r.end()
	})
}
