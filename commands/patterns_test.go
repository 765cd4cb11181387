package commands

import (
	"slices"
	"strings"
	"testing"
)

func TestMastersMatchOnlyWhatCostsThemLittle(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*": true, "lock:*": true, "lock": true, "l?ck:[ab]*": true, "": true,
		"*:a": false, "**": false, "a*b*": false, `\*a`: false, strings.Repeat("a", 1025): false,
	} {
		argv := keyFilter{pattern: pattern, count: 1}.argv(0)
		if got := pattern == "*" || slices.Contains(argv, pattern); got != want {
			t.Errorf("%.30q: masters are asked %.60q", pattern, argv)
		}
	}
}

func TestLongPatternsAreRefused(t *testing.T) {
	h := newHouse(Options{Users: everybodyOperates})
	client, _ := h.dial(1)
	g := client.(*guest)
	for _, command := range []string{"SCAN 0 MATCH %s", "KEYS %s", "CONFIG GET %s", "COMMAND LIST FILTERBY PATTERN %s", "PUBSUB CHANNELS %s", "PSUBSCRIBE %s"} {
		for n, refused := range map[int]bool{1024: false, 1025: true} {
			a := g.session.Do(strings.Fields(strings.ReplaceAll(command, "%s", strings.Repeat("a", n))))
			if got := a.Reply.Kind == ErrorReply; got != refused {
				t.Errorf("%s of %d bytes: %.100q", command, n, a.Reply.Str)
			}
		}
	}
}

// Whoever asks for many settings by long patterns has each of them read once, and none compiled
// for every setting.
func TestConfigGetReadsEachPatternOnce(t *testing.T) {
	settings := make(map[string]string)
	for i := range 100 {
		settings[strings.Repeat("z", 20)+strings.Repeat("y", i)] = "1"
	}
	s := NewDialect(Options{Settings: func() map[string]string { return settings }}).Session(1)
	args := []string{"CONFIG", "GET"}
	for range 100 {
		args = append(args, strings.Repeat("*z?", 50)+"x")
	}
	if n := testing.AllocsPerRun(3, func() { s.Do(slices.Clone(args)) }); n > 2000 {
		t.Errorf("%v allocations for 100 patterns and 100 settings", n)
	}
}
