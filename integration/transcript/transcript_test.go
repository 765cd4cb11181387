package transcript

import (
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
)

// parrot answers each command with the reply that its script has next.
type parrot struct {
	replies [][]string
	heard   []string
}

func (p *parrot) Send(args []string) error {
	p.heard = append(p.heard, strings.Join(args, " "))
	return nil
}

func (p *parrot) Receive() ([]string, error) {
	if len(p.replies) == 0 {
		return nil, fmt.Errorf("nothing more to say")
	}
	reply := p.replies[0]
	p.replies = p.replies[1:]
	return reply, nil
}

// judge collects what Run complains of.
type judge struct{ complaints []string }

func (j *judge) Helper() {}
func (j *judge) Errorf(format string, args ...any) {
	j.complaints = append(j.complaints, fmt.Sprintf(format, args...))
}
func (j *judge) Fatalf(format string, args ...any) {
	j.Errorf(format, args...)
	panic(j)
}

func hold(t *testing.T, text string, target Target, replies ...string) (complaints []string, p *parrot) {
	t.Helper()
	f, err := Parse("file", text)
	if err != nil {
		t.Fatal(err)
	}
	p = &parrot{}
	for _, reply := range replies {
		p.replies = append(p.replies, strings.Split(reply, "|"))
	}
	target.Dial = func(int) (Conn, error) { return p, nil }
	j := &judge{}
	defer func() {
		if r := recover(); r != nil && r != any(j) {
			panic(r)
		}
		complaints = j.complaints
	}()
	Run(j, f, target)
	return j.complaints, p
}

func TestRepliesThatReadOtherwiseAreFound(t *testing.T) {
	for _, test := range []struct {
		want  string // lines between |
		got   string
		proto int
		same  bool
	}{
		{"+OK", "+OK", 2, true},
		{"+OK", "$OK", 2, false},
		{"+OK", "+OKAY", 2, false},
		{"_", "_", 2, true},
		{"_", "$", 2, false},
		{":1", ":1", 2, true},
		{":1", ":10", 2, false},
		{":5..10", ":10", 2, true},
		{":5..10", ":11", 2, false},
		{":-2..10", ":-1", 2, true},
		{":5..10", "$7", 2, false},
		{`$a\x00\r\nb\\`, "$a\x00\r\nb\\", 2, true},
		{`-ERR x\x20`, "-ERR x ", 2, true},
		{`-ERR x\x20`, "-ERR x", 2, false},
		{"$~^a.c$", "$a\nc", 2, true},
		{"$~^a.c$", "$abcd", 2, false},
		{"-~^ERR", "$ERR", 2, false},
		{"*2|$a|_", "*2|$a|_", 2, true},
		{"*2|$a|_", "*2|$a", 2, false},
		{"*1|$a", "*1|$a|$b", 2, false},
		{"*1|...", "*1|$a|$b", 2, true},
		{"*?|$a", "~1|$a", 3, true},
		{"%1|$a|$b", "%1|$a|$b", 3, true},
		{"%1|$a|$b", "*2|$a|$b", 2, true},
		{"%1|$a|$b", "*2|$a|$b", 3, false},
		{"~1|$a", "*1|$a", 2, true},
		{"~1|$a", "*1|$a", 3, false},
		{"(closed)", "(closed)", 2, true},
		{"+OK", "(closed)", 2, false},
	} {
		text := "@ file resp2\n"
		var replies []string
		if test.proto == 3 {
			text += "> HELLO 3\n< %7\n< ...\n"
			replies = append(replies, "%7|$server")
		}
		text += "> X\n< " + strings.ReplaceAll(test.want, "|", "\n< ") + "\n"
		complaints, _ := hold(t, text, Target{Side: Proxy, Proto: 2}, append(replies, test.got)...)
		if (len(complaints) == 0) != test.same {
			t.Errorf("RESP%d, want %s, got %q: %q", test.proto, test.want, test.got, complaints)
		}
	}
}

func TestReplyThatDoesNotComeIsFound(t *testing.T) {
	if complaints, _ := hold(t, "> X\n< +OK\n", Target{Side: Proxy, Proto: 2}); len(complaints) != 1 {
		t.Errorf("%q", complaints)
	}
}

func TestStepsAreForTheirSideAlone(t *testing.T) {
	const text = "> A\n@ proxy-only\n> B\n@ redis-only\n> C\n! wait 5ms\n@ redis-only\n! masters HSET h 'f f' v\n> D\n"
	for side, want := range map[Side]string{Proxy: "A B wait D", Redis: "A C wait HSET h f f v D"} {
		var p *parrot
		note := func(words string) { p.heard = append(p.heard, words) }
		f, err := Parse("file", text)
		if err != nil {
			t.Fatal(err)
		}
		p = &parrot{}
		Run(t, f, Target{
			Side: side, Proto: 2,
			Dial:    func(int) (Conn, error) { return p, nil },
			Wait:    func(d time.Duration) { note("wait") },
			Masters: func(args []string) error { note(strings.Join(args, " ")); return nil },
		})
		if got := strings.Join(p.heard, " "); got != want {
			t.Errorf("%s: %s, want %s", side, got, want)
		}
	}
	if _, p := hold(t, "@ file redis-only\n> A\n", Target{Side: Proxy, Proto: 2}); p.heard != nil {
		t.Errorf("a file for Redis alone: %q", p.heard)
	}
}

func TestBoundIntegersAreSentAgain(t *testing.T) {
	_, p := hold(t, "> CLIENT ID\n< :{me}\n> CLIENT KILL ID {me}\n< :1\n", Target{Side: Redis, Proto: 3}, "%7", ":42", ":1")
	if want := []string{"HELLO 3", "CLIENT ID", "CLIENT KILL ID 42"}; !reflect.DeepEqual(p.heard, want) {
		t.Errorf("%q", p.heard)
	}
}

func TestMistakesInFilesAreTold(t *testing.T) {
	for _, text := range []string{
		"hello", "< +OK", "> ", "> 'a", `> "a`, `> "\q"`, `> "\x1"`, "x> A", "0> A", "> A\n< ", "> A\n< what", "> A\n< $~(",
		"> A\n< \\x", "@ nonsense", "> A\n@ file resp2", "@ file what", "! wait", "! wait soon", "! wait -1s", "! dance", "> A\n@ proxy-only",
	} {
		if _, err := Parse("file", text); err == nil {
			t.Errorf("%q was understood", text)
		}
	}
}

func TestWireReadsEveryKindOfReply(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	served := make(chan struct{})
	defer func() { <-served }()
	go func() {
		defer close(served)
		theirs, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer theirs.Close()
		buf := make([]byte, 1000)
		n, _ := theirs.Read(buf)
		if got := string(buf[:n]); got != "*2\r\n$1\r\nA\r\n$2\r\n\r\n\r\n" {
			t.Errorf("sent %q", got)
		}
		fmt.Fprintf(theirs, "%%1\r\n$1\r\na\r\n*2\r\n:1\r\n_\r\n=5\r\ntxt:x\r\n$-1\r\n*-1\r\n~1\r\n#t\r\n-ERR a\r\n")
	}()
	ours, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	w := NewWire(ours)
	if err := w.Send([]string{"A", "\r\n"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"%1 $a *2 :1 _", "$x", "_", "_", "~1 #t", "-ERR a", Closed} {
		got, err := w.Receive()
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("got %q, %v, want %s", got, err, want)
		}
	}
}
