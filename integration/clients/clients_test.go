package clients

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// languages narrows the matrix while one of its folders is worked on:
//
//	go test -v ./integration/clients -languages=python,node
var (
	languages = flag.String("languages", "", "run these folders only, separated by commas")
	waiting   = flag.Bool("waiting", false, "run Python's also through a proxy with acquire-wait")
)

// patience is how long the libraries of one language may take: it ends only what hangs.
const patience = 15 * time.Minute

func TestUnmodifiedClientsLockThroughTheProxy(t *testing.T) {
	for _, language := range folders(t) {
		t.Run(language, func(t *testing.T) { lock(t, language) })
	}
}

// Of these libraries some ask by SET NX and one by a script, some ask again and again and some wait for what a release
// pushes: where the proxy has them wait in line, too, they do all that they did.
func TestUnmodifiedClientsWaitInLine(t *testing.T) {
	if !*waiting || !slices.Contains(folders(t), "python") {
		t.Skip("run with -waiting")
	}
	lock(t, "python", "--acquire-wait", "1s")
}

// lock has the libraries of a language lock through a proxy with these options.
func lock(t *testing.T, language string, options ...string) {
	masters, p := start(t, options...)
	d := &deaths{t: t, masters: masters, proxy: p, counters: map[string]*counter{}}
	verdicts := 0
	s, err := launch(filepath.Join(language, "run"), patience, hostAndPort(t, p.Addr)...)
	if err != nil {
		t.Fatal(err)
	}
	s.in.Close()
	s.follow(func(line string) {
		t.Log(line)
		what, _, _ := strings.Cut(line, " ")
		switch what {
		case "ok", "pending":
			verdicts++
		case "FAIL":
			verdicts++
			t.Error("the library fails: see the line before")
		case "counter":
			d.hear(line)
		}
	}, d.look)
	if err := s.wait(); err != nil {
		t.Errorf("%s/run: %v", language, err)
	}
	d.bury()
	if verdicts == 0 {
		t.Errorf("%s/run says of no library how it went", language)
	}
}

// folders are all languages, or those asked for.
func folders(t *testing.T) []string {
	t.Helper()
	scripts, err := filepath.Glob("*/run")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no language has a script: %v", err)
	}
	var all []string
	for _, s := range scripts {
		all = append(all, filepath.Dir(s))
	}
	if *languages == "" {
		return all
	}
	asked := strings.Split(*languages, ",")
	for _, a := range asked {
		if !slices.Contains(all, a) {
			t.Fatalf("-languages names %q; there are %s", a, strings.Join(all, ", "))
		}
	}
	return asked
}
