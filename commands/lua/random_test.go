package lua

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/integration"
)

// The tests here write programs at random, in all of Lua's grammar, and ask a real Redis
// whether what is printed of them does the same.
var (
	programs = flag.Int("programs", 400, "how many programs each test writes")
	seed     = flag.Uint64("seed", 1, "what the tests begin with")
)

func TestWhatIsPrintedMeansTheSame(t *testing.T) {
	m := newMaster(t)
	random := rand.New(rand.NewPCG(*seed, 0))
	errors := 0
	for range *programs {
		text := writeProgram(random)
		if strings.HasPrefix(m.checkMeans(t, text), "!") {
			errors++
		}
		if t.Failed() {
			t.Fatalf("again: go test ./commands/lua -run '^%s$' -seed %d -programs %d", t.Name(), *seed, *programs)
		}
	}
	// Programs are to end well and badly.
	if errors < *programs/20 || errors > *programs*19/20 {
		t.Errorf("%d of %d programs end in an error", errors, *programs)
	}
}

// TestSpoiltProgramsAreReadAsRedisReadsThem takes tokens out of programs, and puts others in.
func TestSpoiltProgramsAreReadAsRedisReadsThem(t *testing.T) {
	m := newMaster(t)
	random := rand.New(rand.NewPCG(*seed, 1))
	more := strings.Fields("and break do else elseif end false for function goto if in local nil not or repeat return then true until while " +
		"+ - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : , . .. ... 1 0x 1e 'a' \" [[ ]] -- a b KEYS redis string.sub")
	read := 0
	for range *programs {
		tokens, err := Lex(writeProgram(random))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString("return function(...) ")
		length := min(len(tokens), 40)
		start := random.IntN(len(tokens) - length + 1)
		spoilt := start + random.IntN(length)
		for i, token := range tokens[start : start+length] {
			if i += start; i == spoilt {
				b.WriteString(more[random.IntN(len(more))])
				if random.IntN(2) == 0 {
					continue
				}
			}
			b.WriteString(" " + token.Source)
			if random.IntN(10) == 0 {
				b.WriteString("\n")
			}
		}
		if m.checkCompiles(t, b.String()+" end") {
			read++
		}
		tokens[spoilt].Source = more[random.IntN(len(more))]
		b.Reset()
		for _, token := range tokens {
			b.WriteString(" " + token.Source)
		}
		if m.checkCompiles(t, b.String()) {
			read++
		}
		if t.Failed() {
			t.Fatalf("again: go test ./commands/lua -run '^%s$' -seed %d -programs %d", t.Name(), *seed, *programs)
		}
	}
	if read < *programs/20 {
		t.Errorf("%d of %d spoilt programs are read", read, 2**programs)
	}
}

// TestMixedScriptsAreReadAsOthersReadThem asks Redis and another parser about scripts that are
// mixed of those that are known.
func TestMixedScriptsAreReadAsOthersReadThem(t *testing.T) {
	m := newMaster(t)
	mixer := integration.NewMixer(*seed, slices.Concat(attacks(t), lockScripts(t)))
	read := 0
	for range *programs {
		text := mixer.Script()
		if m.checkCompiles(t, text) {
			read++
			checkPrint(t, text)
		}
		if t.Failed() {
			t.Fatalf("again: go test ./commands/lua -run '^%s$' -seed %d -programs %d", t.Name(), *seed, *programs)
		}
	}
	if read < *programs/4 {
		t.Errorf("%d of %d mixed scripts are read", read, *programs)
	}
}
