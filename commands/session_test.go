package commands

import (
	"strings"
	"testing"
	"unsafe"

	"redlock-proxy/commands/glob"
	"redlock-proxy/quorum"
)

func TestNothingIsNoCommand(t *testing.T) {
	if a := NewDialect(Options{}).Session(1).Do(nil); a.Reply.Kind != 0 || a.Requests != nil || a.Effect != nil {
		t.Errorf("%+v", a)
	}
}

func TestRejectedCommandsAreToldFromFailedOnes(t *testing.T) {
	s := NewDialect(Options{Password: func() string { return "secret" }}).Session(1)
	for line, want := range map[string]struct {
		command  string
		rejected bool
	}{
		"FOO":        {"", true},
		"CLIENT FOO": {"", true},
		"GET":        {"get", true},
		"CLIENT":     {"client", true},
		"GET k":      {"get", true},
		"CLIENT ID":  {"client|id", true},
		"AUTH wrong": {"auth", false},
		"hello 9":    {"hello", false},
	} {
		a := do(t, s, line)
		name := ""
		if a.Command != nil {
			name = a.Command.Name
		}
		if name != want.command || a.Rejected != want.rejected || a.Reply.Kind != ErrorReply {
			t.Errorf("%s: command %q, rejected %t, %q", line, name, a.Rejected, a.Reply.Str)
		}
	}
}

func TestPasswordMayComeAndGo(t *testing.T) {
	password := ""
	d := NewDialect(Options{Password: func() string { return password }})
	early := d.Session(1)
	password = "secret"
	late := d.Session(2)
	if a := do(t, early, "PING"); a.Reply.Str != "PONG" {
		t.Errorf("who was in before there was a password: %q", a.Reply.Str)
	}
	if a := do(t, late, "PING"); a.Reply.Str != errNoAuth {
		t.Errorf("who came later: %q", a.Reply.Str)
	}
	password = "other"
	if a := do(t, late, "AUTH secret"); a.Reply.Str != errWrongPass {
		t.Errorf("the old password: %q", a.Reply.Str)
	}
	password = ""
	if a := do(t, late, "PING"); a.Reply.Str != "PONG" {
		t.Errorf("once there is none any more: %q", a.Reply.Str)
	}
}

func TestWrongPasswordsAreTold(t *testing.T) {
	long := strings.Repeat("x", 2*longestPassword)
	for _, row := range []struct {
		password, line string
		reply          string
		denied         bool
	}{
		{"secret", "AUTH secret", "OK", false},
		{"secret", "AUTH secre", errWrongPass, true},
		{"secret", "AUTH somebody secret", errWrongPass, true},
		{"secret", "AUTH " + long, errWrongPass, true},
		{"secret", "HELLO 3 AUTH default wrong", errWrongPass, true},
		{"secret", "HELLO 4", errNoProto, false},
		{"secret", "GET k", errNoAuth, false},
		{long, "AUTH " + long, "OK", false},
		{long, "AUTH " + long[1:] + "y", errWrongPass, true},
		{"", "AUTH default " + long, "OK", false},
		{"", "AUTH somebody secret", errWrongPass, true},
	} {
		d := NewDialect(Options{Password: func() string { return row.password }})
		if a := do(t, d.Session(1), row.line); a.Reply.Str != row.reply || a.Denied != row.denied {
			t.Errorf("%.40s: %q, denied %t", row.line, a.Reply.Str, a.Denied)
		}
	}
}

func TestSnapshotTellsWhatTheClientSaid(t *testing.T) {
	s := NewDialect(Options{Version: "7.0.15", Users: everybodyOperates}).Session(7)
	for _, line := range []string{
		"HELLO 3 SETNAME somebody", "CLIENT SETINFO LIB-NAME lib", "CLIENT SETINFO LIB-VER 1.2",
		"CLIENT NO-EVICT on", "CLIENT NO-TOUCH on", "CLIENT NO-TOUCH off", "CLIENT SETNAME 'a b'",
	} {
		do(t, s, line)
	}
	want := Snapshot{ID: 7, Proto: 3, Authed: true, User: "default", Name: "somebody", LibName: "lib", LibVer: "1.2", NoEvict: true}
	if got := s.Snapshot(); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	do(t, s, "RESET")
	want.Proto, want.Name, want.NoEvict = 2, "", false
	if got := s.Snapshot(); got != want {
		t.Errorf("after RESET\ngot  %+v\nwant %+v", got, want)
	}
}

func TestSnapshotTellsOfATransaction(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	told := func(want Snapshot) {
		t.Helper()
		got := s.Snapshot()
		if got.Multi != want.Multi || got.Queued != want.Queued || got.Watched != want.Watched || got.QueuedBytes != want.QueuedBytes || got.Transacts() != want.Transacts() {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	told(Snapshot{})
	do(t, s, "WATCH a b a")
	told(Snapshot{Watched: 2})
	do(t, s, "MULTI")
	told(Snapshot{Watched: 2, Multi: true})
	do(t, s, "GET abc")
	told(Snapshot{Watched: 2, Multi: true, Queued: 1, QueuedBytes: queuedSize + len("GETabc")})
	do(t, s, "EXEC")
	told(Snapshot{})
}

func TestNoEvictIsForOperators(t *testing.T) {
	for users, allowed := range map[string]bool{everybodyOperates: true, "": false} {
		s := NewDialect(Options{Users: users}).Session(1)
		if a := do(t, s, "CLIENT NO-EVICT on"); a.Reply.Str != "OK" || s.Snapshot().NoEvict != allowed {
			t.Errorf("allowed %v: %+v, %+v", allowed, a.Reply, s.Snapshot())
		}
		if do(t, s, "CLIENT NO-EVICT off"); s.Snapshot().NoEvict {
			t.Error("switched off it goes on")
		}
	}
}

func TestInfoTakesEachSectionOnce(t *testing.T) {
	a := do(t, NewDialect(Options{}).Session(1), "INFO Server clients SERVER")
	if got := strings.Join(a.Effect.(InfoEffect).Sections, " "); got != "server clients" {
		t.Errorf("sections %q", got)
	}
}

// FuzzDo: whatever a client says comes to one thing, to requests that can be
// asked, and to a reply that does not break the protocol.
func FuzzDo(f *testing.F) {
	for _, seed := range []string{
		"SET\x1fk\x1fv\x1fNX\x1fPX\x1f30000\x1eGET\x1fk", "EXPIRE\x1fk\x1f-9223372036854775808\x1fNX",
		"SETEX\x1fk\x1f9223372036854775\x1fv", "HELLO\x1f3\x1fAUTH\x1fdefault\x1fx\x1fSETNAME\x1fn",
		"EVAL\x1freturn 1\x1f9223372036854775807\x1fk", "EVALSHA\x1fb70c2384248f88e6b75b9f89241a180f856ad852\x1f1\x1fk\x1ft",
		"SCRIPT\x1fLOAD\x1fif redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end",
		"CLIENT\x1fKILL\x1fID\x1f1\x1fSKIPME\x1fno", "COMMAND\x1fGETKEYS\x1fEVAL\x1fx\x1f-1\x1fk", "CONFIG\x1fGET\x1f[a-\x1f*\\",
		"WATCH\x1fk\x1eGET\x1fk\x1eMULTI\x1eSET\x1fk\x1fv\x1ePING\x1eEXEC", "WATCH\x1fk\x1eMULTI\x1eDEL\x1fk\x1eEXEC\x1eEXEC",
		"ZRANGE\x1fk\x1f0\x1f-1\x1fWITHSCORES\x1eHGETALL\x1fk\x1eSET\x1fk\x1fv\x1fIFNE\x1fx\x1fEX\x1f1", "MULTI\x1eMSET\x1fk\x1eSELECT\x1f1\x1eEXEC",
		"CLIENT\x1fREPLY\x1fSKIP\x1eRESET\x1eQUIT", "\x1f\x1e\x1e\xff\x00\r\n\x1f\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		h := newHouse(options(""))
		client, _ := h.dial(1)
		g := client.(*guest)
		s := g.session
		for command := range strings.SplitSeq(input, "\x1e") {
			a := s.Do(strings.Split(command, "\x1f"))
			kinds := 0
			for _, set := range []bool{a.Reply.Kind != 0, len(a.Requests) > 0, a.Effect != nil} {
				if set {
					kinds++
				}
			}
			if kinds != 1 || (a.Render != nil) != (len(a.Requests) > 0) {
				t.Fatalf("%q comes to %+v", command, a)
			}
			for _, r := range a.Requests {
				checkRequest(t, r)
			}
			reply := g.carryOut(a)
			checkLines(t, reply)
			lines(nil, reply, s.Proto())
			if p := s.Proto(); p != 2 && p != 3 {
				t.Fatalf("RESP%d", p)
			}
		}
	})
}

// checkLines wants no line end where the protocol has none.
func checkLines(t *testing.T, r Reply) {
	if (r.Kind == SimpleReply || r.Kind == ErrorReply) && strings.ContainsAny(r.Str, "\r\n") {
		t.Fatalf("%q has a line end", r.Str)
	}
	for _, elem := range r.Elems {
		checkLines(t, elem)
	}
}

func checkRequest(t *testing.T, r quorum.Request) {
	switch {
	case r.Kind == 0, r.TTL < 0, r.At < 0, r.TTL != 0 && r.At != 0:
	case r.TTL > longestTTL, r.Far != 0 && (r.TTL != 0 || r.At != 0 || r.Far <= longestTTL.Milliseconds()):
	case (r.Kind == quorum.Run) != (r.Script != nil):
	case len(r.Keys) > 0 && r.Key != r.Keys[0]:
	case r.Kind != quorum.Run && (r.Kind == quorum.Write) != (len(r.Args) > 0):
	case r.TTLArg != 0 && (r.TTLArg >= len(r.Args) || r.Args[r.TTLArg] != "" || r.TTL == 0 && r.Far == 0 && r.At == 0):
	case r.Kind == quorum.Write && r.TTLArg == 0 && (r.TTL != 0 || r.Far != 0 || r.At != 0):
	default:
		return
	}
	t.Fatalf("%+v cannot be asked", r)
}

func TestSessionCountsWhatItKeeps(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	big := strings.Repeat("x", 1000)
	if n := s.Memory(); n != 0 {
		t.Errorf("%d bytes of a new session", n)
	}
	do(t, s, "MULTI")
	do(t, s, "SET k "+big+" NX PX 1000")
	if n := s.Memory(); n < 1000 || n > 2000 {
		t.Errorf("%d bytes with a command queued", n)
	}
	do(t, s, "DISCARD")
	do(t, s, "WATCH "+big)
	s.watch.begin(big, keyState{formString, big}, true)
	if n := s.Watched().Load(); n < 2000 || n > 3000 {
		t.Errorf("%d bytes with a key watched", n)
	}
	if do(t, s, "UNWATCH"); s.Watched() != nil {
		t.Errorf("%d bytes with none watched", s.Watched().Load())
	}
	for range 2 {
		s.Subscribed(SubscribeEffect{Names: []string{big, big}}, quorum.Result{Decision: quorum.Won})
		if n := s.Memory(); n < 1000 || n > 2000 {
			t.Errorf("%d bytes with one subscription", n)
		}
	}
	do(t, s, "UNSUBSCRIBE "+big)
	s.Subscribed(SubscribeEffect{Names: []string{big}, Patterns: true}, quorum.Result{Decision: quorum.Won})
	if n := s.Memory(); n < glob.Size(big) || n > glob.Size(big)+2000 {
		t.Errorf("%d bytes with a pattern, which is compiled", n)
	}
	do(t, s, "PUNSUBSCRIBE "+big)
	if n := s.Memory(); n != 0 {
		t.Errorf("%d bytes in the end", n)
	}
	for i, name := range []string{"CLIENT SETNAME ", "CLIENT SETINFO lib-name ", "CLIENT SETINFO lib-ver "} {
		do(t, s, name+big)
		if n := s.Memory(); n < (i+1)*1000 || n > (i+1)*1100 {
			t.Errorf("%d bytes with %d names", n, i+1)
		}
	}
}

// Whoever does not read them has the keys alone wait for him.
func TestKeysOfACommandAreToldWithoutIt(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	command := strings.Repeat("x", 1000) + "key"
	a := s.Do([]string{"COMMAND", "GETKEYS", "EVAL", command[:1000], "1", command[1000:]})
	if len(a.Reply.Elems) != 1 || a.Reply.Elems[0].Str != "key" {
		t.Fatalf("%+v", a.Reply)
	}
	if unsafe.StringData(a.Reply.Elems[0].Str) == unsafe.StringData(command[1000:]) {
		t.Error("the key is told as a part of the command")
	}
}
