package integration

import (
	"fmt"
	"maps"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// What a client's script may do to a master, and to others.

// spentBy is the processor time in milliseconds that a server takes for something.
func spentBy(t *testing.T, r *Redis, something func()) float64 {
	t.Helper()
	spent := func() float64 {
		var told string
		eventually(t, func() error { // a script that is slow today makes it BUSY
			if told = fmt.Sprint(ask(t, r, "INFO", "cpu")); !strings.Contains(told, "used_cpu_user:") {
				return fmt.Errorf("asked what processor time it has taken, a server says %s", told)
			}
			return nil
		})
		sum := 0.0
		for line := range strings.SplitSeq(told, "\r\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && (name == "used_cpu_user" || name == "used_cpu_sys") {
				seconds, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += 1000 * seconds
			}
		}
		return sum
	}
	before := spent()
	something()
	return spent() - before
}

// seen is what of a master no script may change: its process, all that it holds but the
// script's own key, and how it turns tables into JSON.
func seen(t *testing.T, r *Redis) map[string]string {
	s := map[string]string{
		"databases": fmt.Sprint(ask(t, r, "INFO", "keyspace")),
		"json":      fmt.Sprint(ask(t, r, "EVAL", "return {cjson.encode({1, 2.5, a = {}}), #cjson.encode({1/3}), type(cjson.decode('[1]'))}", "0")),
	}
	for line := range strings.SplitSeq(fmt.Sprint(ask(t, r, "INFO", "server")), "\r\n") {
		if id, ok := strings.CutPrefix(line, "run_id:"); ok {
			s["run id"] = id
		}
	}
	for _, key := range ask(t, r, "KEYS", "*").([]any) {
		if key != "wall:k" {
			s["key "+fmt.Sprint(key)] = fmt.Sprint(ask(t, r, "DUMP", fmt.Sprint(key)))
		}
	}
	return s
}

// Each of these broke something once: a master, its settings, others' keys, or the time of
// everybody else. A loop of a million turns is what they are measured against.
func TestHostileScriptsAreTheirCallersBusinessAlone(t *testing.T) {
	t.Parallel()
	const parts = 4
	texts := append(attacks(t), collisions()...)
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			w := startWall(t)
			for i := part; i < len(texts); i += parts {
				// Seldom asked for, and then often.
				for range 6 {
					w.run(texts[i])
				}
			}
			w.check()
		})
	}
}

// attacks are scripts that broke something once.
func attacks(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../commands/lua/testdata/attacks.txt")
	must(t, err)
	var texts []string
	for line := range strings.Lines(string(b)) {
		texts = append(texts, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n"))
	}
	return texts
}

// wall is masters, a proxy, and what of the masters no script may change.
type wall struct {
	*testing.T
	masters []*Redis
	p       *Proxy
	c       talk
	before  []map[string]string
	million float64 // what a loop of a million turns takes a master, in milliseconds
	most    float64 // what the costliest script did
	costly  string
}

func startWall(t *testing.T, args ...string) *wall {
	t.Helper()
	w := &wall{T: t}
	w.masters, w.p = startQuorum(t, 3, append([]string{"--acquire-timeout", "20s", "--master-timeout", "20s", "--max-ttl", "5m"}, args...)...)
	w.c = dial(t, w.p.Addr)
	w.c.want("OK", "SET", "wall:other", "x")
	wantHolding(t, w.masters, "wall:other", "x", 0, 1, 2)
	for _, m := range w.masters {
		// That is the last that a proxy writes into a marker without being made to.
		eventually(t, func() error {
			if logs, err := othersLogs(t, m); err != nil || len(logs) != len(w.masters)-1 {
				return fmt.Errorf("the marker tells of the others' logs: %v, %v", logs, err)
			}
			return nil
		})
		w.before = append(w.before, seen(t, m))
	}
	w.million = math.MaxFloat64
	for range 3 {
		w.million = min(w.million, w.loop())
	}
	return w
}

// loop is what a loop of a million turns takes a master now, in milliseconds.
func (w *wall) loop() float64 {
	return spentBy(w.T, w.masters[0], func() {
		ask(w.T, w.masters[0], "EVAL", "local n = 0 for i = 1, 1000000 do n = n + i end return n", "0")
	})
}

// run has a script run, and holds that it takes a master no longer than it may.
func (w *wall) run(text string) any {
	w.Helper()
	return w.within(10, 20, text)
}

// within has a script run, and holds that it takes a master at most so many times a loop of a
// million turns, and some milliseconds.
func (w *wall) within(turns, more float64, text string) (reply any) {
	w.Helper()
	spent := w.judge(turns, more, text, func() { reply = w.c.do("EVAL", text, "1", "wall:k", "1", "two", "3") }, func() { w.c.do("DEL", "wall:k") })
	if spent > w.most {
		w.most, w.costly = spent, text
	}
	return reply
}

// judge has something done, and holds the same of that. What another program on the machine
// slows down takes more processor time, too: so it is tried again, beside loops of that moment.
func (w *wall) judge(turns, more float64, what string, something, after func()) (spent float64) {
	w.Helper()
	million := w.million
	for range 5 {
		spent = spentBy(w.T, w.masters[0], something)
		after()
		if spent <= turns*million+more {
			return spent
		}
		million = w.loop()
		if spent <= turns*million+more {
			return spent
		}
	}
	w.Errorf("a master takes %.1f ms, and %.1f for a loop of a million turns, with %.1000q", spent, million, what)
	return spent
}

// check holds that the masters are as they were.
func (w *wall) check() {
	w.Helper()
	for i, m := range w.masters {
		if after := seen(w.T, m); !maps.Equal(w.before[i], after) {
			w.Errorf("master %d was %v, and is %v", i, w.before[i], after)
		}
	}
	awaitVoting(w.T, w.p, 3)
	w.Logf("a million turns take a master %.1f ms, and %.1f at most: %.1000q", w.million, w.most, w.costly)
}

// collisions are attacks with strings that collide.
func collisions() []string {
	words := Colliding(4000)
	repeat := strings.Repeat
	quoted := func(n int) string { return `"` + strings.Join(words[:n], `","`) + `"` }
	keyed := func(n int) string { return strings.Join(words[:n], "=1,") + "=1" }
	lookups := " local x while true do " + repeat("x=t."+words[0]+" x=t."+words[1500]+" ", 10) + "end"
	texts := []string{
		"return {" + quoted(1990) + "}", "return {" + quoted(4000) + "}",
		"local t={" + keyed(1900) + "} return 1", "local t={" + keyed(4000) + "} return 1",
		"return #cjson.decode('[" + quoted(4000) + "]')",
		`local t=cjson.decode('{"` + strings.Join(words[:2000], `":1,"`) + `":1}')` + lookups,
		"local p={" + quoted(1990) + "} while true do local x " + repeat("x=p[1]..p[2] ", 5) + "end",
	}
	for _, n := range []int{400, 900, 1600, 1900} {
		texts = append(texts, "local t={"+keyed(n)+"}"+lookups)
	}
	// Cut out of longer ones, so that there is no word in the text that Lua does not need.
	for _, n := range []int{600, 1200, 3000} {
		text := "local t={} for _,s in ipairs({"
		for i := 0; i < n; i += 30 {
			text += `"` + strings.Join(words[i:i+30], "") + `",`
		}
		texts = append(texts, text+"}) do for i=1,#s,8 do t[s:sub(i,i+7)]=1 end end"+lookups,
			text+"}) do for i=1,#s,8 do t[#t+1]=s:sub(i,i+7) end end return #t")
	}
	// Functions that share variables with the one around them: Lua goes through those.
	name := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, ",a%d", i)
		}
		return b.String()[1:]
	}
	for _, n := range []int{60, 120, 180} {
		text := "local " + name(0, n) + " local f "
		for i := 0; i < n; i += 30 {
			text += "f=function() return " + name(i, i+30) + " end "
		}
		texts = append(texts, text+"while true do "+repeat("f=function() return "+name(0, 50)+" end ", 100)+"end",
			text+"while true do "+repeat("f=function() return "+name(0, 9)+" end ", 500)+"end")
	}
	// What Lua's own compiler goes through for each further one, if it may.
	texts = append(texts,
		"return 1"+repeat(" and 1", 9000), "local x "+repeat("x=x"+repeat(" and x", 500)+" ", 19),
		"if nil then"+repeat(" elseif 1 then", 4000)+" end", repeat("if nil then"+repeat(" elseif 1 then", 490)+" end ", 9),
		"while nil do "+repeat("do break end ", 4900)+"end", repeat("while nil do "+repeat("do break end ", 490)+"end ", 9),
	)
	return append(texts, packedNumbers()...)
}

// packedNumbers are texts with a packed map of so many numbers whose two halves have the same sum.
func packedNumbers() (texts []string) {
	for _, n := range []int{24, 600, 1500} {
		text := fmt.Sprintf("local s='\\223\\000\\000\\%03d\\%03d", n>>8, n&255)
		for i := range n {
			text += "\\203"
			bits := math.Float64bits(1<<52 + float64(i)*(1<<32-1))
			for shift := 56; shift >= 0; shift -= 8 {
				text += fmt.Sprintf("\\%03d", bits>>shift&255)
			}
			text += "1"
		}
		texts = append(texts, text+"' local t=cmsgpack.unpack(s) for i=2^52+5000*(2^32-1),1e300,2^32-1 do local x "+strings.Repeat("x=t[i] ", 24)+"end")
	}
	return texts
}
