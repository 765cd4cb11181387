package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// Tests and simulations of the engine know our scripts as what fake masters do in their place.
// Here each script that acts under a condition runs on a real Redis beside its double, in all
// cases that it is to tell from each other: both answer the same, and leave the same.

const (
	nonceThere = "v0123456789abcdef"
	nonceWas   = "v00000000000000aa"
	nonceOther = "v00000000000000bb"
	life       = 10 * time.Minute
)

// combinations are all.
func combinations(choices ...[]string) [][]string {
	all := [][]string{nil}
	for _, list := range choices {
		var longer [][]string
		for _, c := range all {
			for _, x := range list {
				longer = append(longer, append(append([]string(nil), c...), x))
			}
		}
		all = longer
	}
	return all
}

// undoKeys are the keys of the scripts that take something back from k.
var undoKeys = []string{"k", quorum.MarkerKey, catchup.LeaseKey}

// backs are what a key was: its value, "" if it was not there, what it had left, by how much its
// expiry was moved, and when it ended.
func backs() (list [][]string) {
	for _, was := range []string{"", "before"} {
		for _, when := range [][]string{{"0", "", ""}, {"30000", "", ""}, {"30000", "1000", ""}, {"30000", "9999999", ""},
			{"30000", "", "in a minute"}, {"30000", "", "a minute ago"}} {
			list = append(list, append([]string{was}, when...))
		}
	}
	return list
}

// besideBack has k become what it was, by the scripts that may do that; known is what they are to
// find there: when k ends, and the nonce.
func besideBack(t *testing.T, sides [2]side, name string, h held, back, known []string) {
	t.Helper()
	became, ttl, moved, ended := back[0], back[1], back[2], back[3]
	switch ended {
	case "in a minute":
		ended = fmt.Sprint(time.Now().Add(time.Minute).UnixMilli())
	case "a minute ago":
		ended = fmt.Sprint(time.Now().Add(-time.Minute).UnixMilli())
	}
	dumped := func(s side) string {
		if became == "" {
			return ""
		}
		return s.dump(became)
	}
	name += "; back: " + strings.Join(back, ", ")
	beside(t, sides, "put-back: "+name, h, putBackScript, undoKeys, func(s side) []string {
		return slices.Concat([]string{s.dump("the"), dumped(s), ttl}, known, []string{moved, ended})
	})
	for _, latch := range combinations([]string{"", "own", "own!", "other's"}, []string{"take-back", "bring-up"}, []string{"", "stays"}, []string{"", "known"}) {
		if latch[3] != "" && latch[1] != "bring-up" {
			continue
		}
		h := maps.Clone(h)
		if latch[0] != "" {
			h[journal.Latch("k")] = heldValue{latch[0], life}
		}
		if latch[3] != "" {
			h[leftBySteps("k")] = heldValue{`0 0 "" ""`, 0}
		}
		beside(t, sides, "latch: "+name+"; "+strings.Join(latch, ", "), h, latchScript, append(slices.Clone(undoKeys), journal.Latch("k"), quorum.StepsKey), func(s side) []string {
			return slices.Concat([]string{"own", latch[1], latch[2], dump.Fingerprint(s.dump("the")), dumped(s), ttl}, known, []string{moved, ended, ""})
		})
	}
}

func TestScriptsDoOnAMasterWhatTheirDoublesDo(t *testing.T) {
	notInstrumented(t)
	sides := bothSides(t)
	there := heldValue{nonceThere + `{"was":"` + nonceWas + `"}`, 0}
	// What is found, and what it is told by: the value of k, when k ends, the nonce, a lease.
	for _, is := range combinations(
		[]string{"no", "the", "another"}, []string{"sooner", "within", "later", "never", "never either"},
		[]string{"", nonceThere, nonceWas, nonceOther}, []string{"", "leased"}) {
		value, end, nonce, leased := is[0], is[1], is[2], is[3] != ""
		h := held{quorum.MarkerKey: there}
		if leased {
			h[catchup.LeaseKey] = heldValue{"run", life}
		}
		left := life
		if strings.HasPrefix(end, "never") {
			left = 0
		}
		if value != "no" {
			h["k"] = heldValue{value, left}
		}
		eternal := "0"
		if end == "never" {
			eternal = "1"
		}
		aside := map[string]time.Duration{"sooner": time.Minute, "later": -time.Minute}[end] // of the bounds
		at := time.Now().Add(life + aside)
		known := []string{fmt.Sprint(at.Add(-20 * time.Second).UnixMilli()), fmt.Sprint(at.Add(20 * time.Second).UnixMilli()), eternal, nonce}
		name := strings.Join(is, ", ")

		beside(t, sides, "take-back: "+name, h, takeBackScript, undoKeys, func(side) []string {
			return append([]string{"the"}, known...)
		})
		for _, back := range backs() {
			if left == 0 && back[2] != "" {
				continue // no expiry was moved
			}
			besideBack(t, sides, name, h, back, known)
		}
	}
}

// What is no latch any more keeps no other.
func TestLatchThatIsNoneKeepsNoOther(t *testing.T) {
	real := bothSides(t)[0].(realSide)
	real.do("HSET", journal.Latch("k"), "a", "b")
	real.do("SET", journal.Latch("l"), "own")
	if said := real.run(letGoScript, []string{quorum.StepsKey, journal.Latch("k"), journal.Latch("l")}, []string{"own", "0", "own", "0"}); fmt.Sprint(said) != "[0 1]" {
		t.Errorf("it said %v", said)
	}
}

// Steps are let go of side by side, each by its own latch.
func TestLettingGoDoesOnAMasterWhatItsDoubleDoes(t *testing.T) {
	sides := bothSides(t)
	latches := []string{"", "own", "own!", "other's"}
	for _, is := range combinations(latches, latches, []string{"", "known"}) {
		h := held{}
		for i, key := range []string{"k", "l"} {
			if is[i] != "" {
				h[journal.Latch(key)] = heldValue{is[i], life}
			}
		}
		if is[2] != "" {
			h[leftBySteps("k")] = heldValue{`0 0 "" ""`, 0}
		}
		keys := []string{quorum.StepsKey, journal.Latch("k"), "k", "l", journal.Latch("l")}
		beside(t, sides, "let go: "+strings.Join(is, ", "), h, letGoScript, keys, func(s side) []string {
			return []string{"own", "2", "01234567+", "", "own", "0"}
		})
	}
}

func TestCatchUpsDoOnAMasterWhatTheirDoublesDo(t *testing.T) {
	sides := bothSides(t)
	ours := []string{quorum.MarkerKey, catchup.LeaseKey}
	keys := append(ours, "k")
	// The nonce that is named, whose lease there is, and what k holds, for how long.
	for _, is := range combinations([]string{nonceThere, nonceWas, ""}, []string{"", "run 1", "run 2", "another"},
		[]string{"no", "the", "another"}, []string{"never", "sooner", "later"}) {
		nonce, lease, value, end := is[0], is[1], is[2], is[3]
		h := held{quorum.MarkerKey: {nonceThere + `{"was":"` + nonceWas + `"}`, 0}}
		if lease != "" {
			h[catchup.LeaseKey] = heldValue{lease, life}
		}
		if value != "no" {
			h["k"] = heldValue{value, map[string]time.Duration{"sooner": life / 2, "later": 2 * life}[end]}
		}
		name := strings.Join(is, ", ")
		beside(t, sides, "lease: "+name, h, catchup.LeaseScript, ours, func(side) []string {
			return []string{nonce, "run 1", "30000", "run"}
		})
		beside(t, sides, "return: "+name, h, catchup.ReturnScript, keys, func(side) []string {
			return []string{nonce, "run 1", "30000", catchup.DigestOf("the")}
		})
		beside(t, sides, "held: "+name, h, catchup.HeldScript, []string{"k"}, func(side) []string { return []string{catchup.DigestOf("the")} })
		for _, ttl := range []string{"-1", fmt.Sprint(life.Milliseconds())} {
			beside(t, sides, "copy for "+ttl+": "+name, h, catchup.CopyScript, keys, func(side) []string {
				return []string{nonce, "run 1", "30000", "w", "the", ttl}
			})
			long := strings.Repeat("long", 20)
			h := maps.Clone(h)
			if value == "the" {
				h["k"] = heldValue{long, h["k"].left}
			}
			beside(t, sides, "copy of what is long for "+ttl+": "+name, h, catchup.CopyScript, keys, func(side) []string {
				return []string{nonce, "run 1", "30000", "-", catchup.DigestOf(long), ttl, long}
			})
		}
		beside(t, sides, "lay: "+name, h, catchup.LayScript, []string{quorum.MarkerKey, "k"}, func(side) []string {
			return []string{nonce, catchup.DigestOf("the")}
		})
		beside(t, sides, "mark: "+name, h, master.MarkScript, []string{quorum.MarkerKey}, func(side) []string { return []string{nonce, "v11{}"} })
	}
}

func TestFirstStartsDoOnAMasterWhatTheirDoublesDo(t *testing.T) {
	sides := bothSides(t)
	markers := make([]string, quorum.Databases)
	for db := range markers {
		markers[db] = fmt.Sprint(nonceThere, "{", db, "}")
	}
	for _, is := range combinations([]string{"", "q0123456789abcdef", nonceThere}, []string{"step", "another"}, []string{"true", "false"},
		[]string{"q0123456789abcdef", nonceThere, ""}, []string{"", "a key"}) {
		stands, loss, first, nonce, key := is[0], is[1], is[2], is[3], is[4]
		h := held{}
		if stands != "" {
			h[quorum.MarkerKey] = heldValue{stands + `{"loss":"` + loss + `","first":` + first + `}`, 0}
		}
		if key != "" {
			h[key] = heldValue{"v", life}
		}
		name := strings.Join(is, ", ")
		beside(t, sides, "first: "+name, h, master.FirstScript, []string{quorum.MarkerKey}, func(side) []string { return markers })
		beside(t, sides, "admit: "+name, h, master.AdmitFirstScript, []string{quorum.MarkerKey}, func(side) []string { return append([]string{nonce, "step"}, markers...) })
		beside(t, sides, "withdraw: "+name, h, master.WithdrawFirstScript, []string{quorum.MarkerKey}, func(side) []string { return []string{nonce, "step"} })
	}
}

// The database at hand is the one that is read, and either the own one or another.
func TestLossesDoOnAMasterWhatTheirDoublesDo(t *testing.T) {
	sides := bothSides(t)
	process, installation := `"run_id":"p"`, `"installation":"i"`
	for _, is := range combinations([]string{nonceThere, ""}, []string{nonceThere, ""}, []string{installation, `"installation":"j"`},
		[]string{process, `"run_id":"o"`}, []string{process, ""}, []string{`"changing":true`, `"changing":false`}, []string{"0", "1"}) {
		stands, read, spared, own := is[0], is[1], is[4], is[6]
		h := held{leftBySteps("k"): heldValue{`0 0 "" ""`, 0}}
		if stands != "" {
			h[quorum.MarkerKey] = heldValue{stands + " {" + is[2] + "," + is[3] + "," + is[5] + "}", 0}
		}
		beside(t, sides, "lose: "+strings.Join(is, ", "), h, master.LossScript, []string{quorum.MarkerKey}, func(side) []string {
			return []string{read, own, installation, spared, `q0123456789abcdef{0,"was":"@"}`, `q0123456789abcdef{1,"was":"@"}`}
		})
	}
}

func TestStatesElsewhereAreTheSameOnAMasterAndItsDouble(t *testing.T) {
	sides := bothSides(t)
	process, installation := `"run_id":"p"`, `"installation":"i"`
	for _, is := range combinations([]string{nonceThere, "q0123456789abcdef", ""}, []string{installation, `"installation":"j"`},
		[]string{`"db":0`, `"db":10`, `"none":0`}, []string{process, `"run_id":"o"`}, []string{`"ghosts":true`, `"ghosts":false`}) {
		h := held{}
		if is[0] != "" {
			h[quorum.MarkerKey] = heldValue{is[0] + " {" + strings.Join(is[1:], ",") + "}", 0}
		}
		beside(t, sides, strings.Join(is, ", "), h, elsewhereScript, []string{quorum.MarkerKey}, func(side) []string { return []string{process, installation} })
	}
}
