package journal

import (
	_ "embed"
	"fmt"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// wrapping is how a script and the prelude are put together.
type wrapping struct {
	first   string // what is done before
	latch   string // the name of what the prelude is to know of a latch, if there is one
	reads   bool
	reaches bool
	bounds  *quorum.Bounds // of a client's script, or of those that one of ours runs; nil if it is neither
	runs    bool           // it is one of ours that runs clients'
	knows   string         // what makes the helpers of a client's
}

// wrap puts a script before the prelude.
func (p preludeParts) wrap(text string, w wrapping) *master.Script {
	parameters, further, knows := "KEYS,ARGV,redis", "", oursKnow
	switch {
	case w.runs:
		text += strings.Repeat("\n", constantLine-2-strings.Count(text, "\n"))
		knows = scriptsKnow()
	case w.bounds != nil:
		parameters, further, knows = printedParameters, printedFurther, w.knows
	}
	return master.NewScript(w.first + "local __make=function(" + parameters + ") return function(...) " + text + "\nend" + further + " end " +
		p.run(2+strings.Count(text, "\n"), knows, w))
}

// run is the prelude, which is on that line, and makes the script by __make.
func (p preludeParts) run(line int, knows string, w wrapping) string {
	latch, bounds := "nil", "nil,nil"
	if w.latch != "" {
		latch = w.latch
	}
	if b := w.bounds; b != nil {
		bounds = fmt.Sprintf("%d,%d", b.Steps, b.Memory)
	}
	return fmt.Sprintf("%s %s %s(redis,KEYS,ARGV,%s,%t,%t,__make,%d,%s)", p.before, knows, p.after, latch, w.reads, w.reaches, line, bounds)
}

// A client's script is given what it may name, and makes besides what takes its steps. What is no
// number takes all of them: nothing is less than that, and a script whose steps it is has no end.
const (
	printedParameters = "KEYS,ARGV,__h,__t,__x"
	printedFurther    = ",function(n) __t=__t-n if not(__t>=1) then __x() end return __t end"
)

// preludeText is long, and one file, since it is one closure: nothing in it may be reached by a script.
//
//go:embed journal.lua
var preludeText string

//go:embed few.lua
var fewText string

// prelude is the journal's text on one line, with what stands elsewhere, parted where it says what a script knows.
var prelude = func() preludeParts {
	const few, tag, knows = "-- what few call\n", "-- what a tag is\n", "-- what it knows\n"
	for _, place := range []string{few, tag, knows} {
		if strings.Count(preludeText, place) != 1 {
			panic("the prelude does not say " + place[3:])
		}
	}
	before, after, _ := strings.Cut(strings.NewReplacer(few, fewText, tag, tagText, "steps_key", "'"+quorum.StepsKey+"'").Replace(preludeText), knows)
	return preludeParts{OneLine(before), OneLine(after)}
}()

type preludeParts struct{ before, after string }

//go:embed ours.lua
var oursText string

// oursKnow is what a script of ours knows of Redis, and has beside the prelude.
var oursKnow = OneLine(oursText)

//go:embed scripts.lua
var scriptsText string

// scriptsKnow is what one of ours knows that runs clients' scripts: what these know, under another
// name, and then what is its own.
func scriptsKnow() string {
	return helpers.all() + fmt.Sprintf(" local theirs,opens,closes=h,'local %s=... return function(...) ','\\nend%s' ", printedParameters, printedFurther) +
		oursKnow + " " + OneLine(scriptsText)
}

// OneLine takes comments, indentation and line ends out of a Lua text in which
// no string holds any of them.
func OneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}
