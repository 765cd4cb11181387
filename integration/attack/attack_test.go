package main

import (
	"strings"
	"testing"
	"time"
)

// TestAttacksAreRun, much too short to mean anything: every side has its figures, and
// what one Redis does not stand is told.
func TestAttacksAreRun(t *testing.T) {
	o, err := parse(strings.Fields("-short -for 200ms -rounds 2 -run ^(quiet|pipeline|unfinished|liar|endless)$"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBesieged(o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	r, err := b.measure()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.rows) != 5 {
		t.Fatalf("%d rows", len(r.rows))
	}
	done := 0 // in all: on a busy machine some have no time to
	for _, x := range r.rows {
		ones := 2
		if x.proxyOnly {
			ones = 0
		}
		if len(x.proxy.p99) != 2 || median(x.proxy.p99) <= 0 || len(x.one.p99) != ones {
			t.Errorf("%s: %+v", x.name, x)
		}
		done += x.proxy.tally.Done
		if x.liar != (x.lies > 0) {
			t.Errorf("%s: %d lies", x.name, x.lies)
		}
		if grown := x.peak - x.idle; x.name == "unfinished" && grown < 64<<20 {
			t.Errorf("500 MiB that nobody finishes are %d MiB of memory", grown>>20)
		}
		if x.name == "endless" && (!x.lost || x.proxy.tally.Answers == 0 || x.proxy.tally.Slowest == 0) {
			t.Errorf("endless scripts: one Redis was lost: %v; %+v", x.lost, x.proxy.tally)
		}
	}
	if done == 0 {
		t.Error("the attackers have done nothing")
	}
	if text := r.markdown(); !strings.Contains(text, "| four clients") && !strings.Contains(text, "| 500 connections") {
		t.Errorf("the report lacks a row:\n%s", text)
	}
}

func TestAttacksHaveNamesAndAttackersOfTheirOwn(t *testing.T) {
	seen := make(map[string]bool)
	for _, a := range attacks() {
		if seen[a.name] {
			t.Errorf("two attacks are called %s", a.name)
		}
		seen[a.name] = true
		for _, name := range a.crew {
			if attackers[name] == nil {
				t.Errorf("%s: nobody is called %q", a.name, name)
			}
		}
		if a.may.likeRedis && a.proxyOnly {
			t.Errorf("%s has no like at one Redis", a.name)
		}
	}
	for name := range attackers {
		last := attacks()[len(attacks())-1]
		if !strings.Contains(strings.Join(last.crew, " ")+" ", name+" ") {
			t.Errorf("%q is not there when all are", name)
		}
	}
}

func TestAttackerThatCannotBeginIsAnError(t *testing.T) {
	if p, err := sendOut([]string{"nobody"}, "127.0.0.1:1", 0); err == nil || p != nil {
		t.Errorf("%v, %v", p, err)
	}
}

func TestMistakesInOptionsAreTold(t *testing.T) {
	for _, args := range []string{"more", "-rounds 0", "-for 1ms", "-run (", "-run nothing", "-memory 1"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
	o, err := parse(strings.Fields("-short -rounds 7"))
	if err != nil || o.rounds != 7 || o.lasts != shortTurn || o.memory != shortMemory || len(o.chosen()) != len(attacks()) {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestBystanderTellsWhatItIsRefused, and that nobody answers.
func TestBystanderTellsWhatItIsRefused(t *testing.T) {
	b := newBystander("127.0.0.1:1")
	b.lockOnce()
	if sum(b.refused) != 1 || len(b.latencies) != 1 {
		t.Errorf("%+v", b)
	}
	b.standBy(5 * time.Millisecond)
	if b.locks < 2 || sum(b.refused) != b.locks {
		t.Errorf("%+v", b)
	}
}
