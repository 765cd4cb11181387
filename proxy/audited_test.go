package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
	"redlock-proxy/proxy/audit"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// paper is what an audit log is written on.
type paper struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (p *paper) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(line)
}

func (p *paper) Reopen() error { return nil }
func (p *paper) Settle() error { return nil }

func (p *paper) String() string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// told are the lines, each as some of its fields.
func (p *paper) told(t *testing.T) (list []string) {
	t.Helper()
	for text := range strings.Lines(p.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var b []string
		for _, name := range []string{"event", "door", "command", "args", "db", "key", "master", "reason", "why", "outcome", "votes"} {
			if v, has := fields[name]; has {
				b = append(b, fmt.Sprint(v))
			}
		}
		list = append(list, strings.Join(b, " "))
	}
	return list
}

func newAudited(t *testing.T, cfg Config) (*rig, *paper) {
	p := &paper{}
	cfg.Audit = audit.New(audit.Config{Name: "here:1", To: p, Log: hclog.NewNullLogger()})
	r := newRig(t, cfg)
	r.engine.stands(quorum.Status{Masters: []quorum.MasterStatus{{Name: "m1"}, {Name: "m2"}}})
	synctest.Wait()
	r.server.watch() // it knows the masters' names
	return r, p
}

func (r *rig) endAudited() {
	r.end()
	r.server.cfg.Audit.Close(time.Second)
}

// heldBy answers what LOCK FORCE asks of a lock, and grants all else.
func heldBy(token string) func(*fakeEngine, asked) {
	return func(_ *fakeEngine, a asked) {
		result := quorum.Result{Decision: quorum.Won, Needed: 1}
		switch {
		case a.request.Kind == quorum.Survey && a.request.Args[0] == "EVAL":
			result.Answers = []quorum.SurveyAnswer{on(token)}
		case a.request.Kind == quorum.Read:
			result.Exists, result.Type, result.Value, result.TTL = true, "string", token, time.Second
		default:
			result.Answers = []quorum.SurveyAnswer{on("OK"), {}}
			result.Votes = quorum.Votes(quorum.Granted) | quorum.Votes(quorum.Refused)<<quorum.VoteBits
		}
		a.asker.Answer(result).Flush()
	}
}

func wantTold(t *testing.T, p *paper, want ...string) {
	t.Helper()
	if got := p.told(t); !slices.Equal(got, want) {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOrdersOfClientsAreToldWithWhatCameOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Configure: func(s []commands.Setting) commands.Reply {
			if s[0].Name == "log-level" {
				return commands.OK
			}
			return commands.OptionRefused(s[0].Name, s[0].Value+" is wrong")
		}}
		cfg.Commands.Users = everybodyOperates
		r, p := newAudited(t, cfg)
		r.engine.auto = heldBy("the-token")
		c := r.dial()
		for _, order := range []string{
			"LOCK FORCE k HOLDER " + registry.Fingerprint("the-token") + " REASON it hangs",
			"LOCK FORCE k HOLDER 1f2e", "LOCK DRAIN m1 FORCE REASON new disk", "LOCK RESUME m1 REASON done", "LOCK ADMIT m2", "LOCK DRAIN",
			"CONFIG SET log-level the-value", "CONFIG SET requirepass the-password", "CONFIG REWRITE", "CONFIG RESETSTAT",
			"FLUSHDB ASYNC", "FLUSHALL", "CLIENT KILL ID 99", "SCRIPT FLUSH", "SCRIPT KILL", "SLOWLOG RESET", "LATENCY RESET command",
			"SET other the-value NX PX 1000", "GET other", "SLOWLOG LEN", "CONFIG GET *", "MONITOR",
		} {
			c.send(order + "\r\n")
			synctest.Wait()
			if _, err := c.nc.Read(make([]byte, 64<<10)); err != nil {
				t.Fatal(err)
			}
		}
		wantTold(t, p,
			"order client LOCK FORCE 0 k it hangs done map[m1:granted m2:refused]",
			"order client LOCK FORCE 0 k refused",
			"order client LOCK DRAIN FORCE m1 new disk done", "order client LOCK RESUME m1 done done", "order client LOCK ADMIT m2 done",
			"order client CONFIG SET log-level done", "order client CONFIG SET refused", "order client CONFIG REWRITE refused", "order client CONFIG RESETSTAT done",
			"order client FLUSHDB ASYNC 0 done map[m1:granted m2:refused]", "order client FLUSHALL done map[m1:granted m2:refused]",
			"order client CLIENT KILL ID 99 done", "order client SCRIPT FLUSH done", "order client SCRIPT KILL refused", "order client SLOWLOG RESET done",
			"order client LATENCY RESET command done", "order client MONITOR done")
		for _, secret := range []string{"the-token", "the-value", "the-password"} {
			if strings.Contains(p.String(), secret) {
				t.Errorf("%s is told", secret)
			}
		}
		for _, who := range []string{`"proxy":"here:1"`, `"run_id":"` + r.server.runID, `"from":"pipe`, `"user":"default"`, `"id":1`} {
			if strings.Count(p.String(), who) != len(p.told(t)) {
				t.Errorf("not every line has %s:\n%s", who, p)
			}
		}
		r.endAudited()
	})
}

func TestOrderThatMastersDoNotAnswerMayHaveBeenCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{}
		cfg.Commands.Users = everybodyOperates
		r, p := newAudited(t, cfg)
		r.engine.auto = func(_ *fakeEngine, a asked) {
			refused := quorum.SurveyAnswer{Given: true, Reply: quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "NOPERM no"}}}
			result := quorum.Result{Decision: quorum.Unavailable, Needed: 2}
			switch {
			case a.request.Flushes() && a.request.Args[0] == "FLUSHDB": // they answer that they do not
				result = quorum.Result{Decision: quorum.Won, Needed: 1, Answers: []quorum.SurveyAnswer{refused, refused}}
				fallthrough
			case a.request.Flushes():
				result.Votes = quorum.Votes(quorum.Granted)
			}
			a.asker.Answer(result).Flush()
		}
		c := r.dial()
		for _, order := range []string{"FLUSHALL", "FLUSHDB", "LOCK FORCE k HOLDER 1f2e"} {
			c.send(order + "\r\n")
			c.expect("-NO")
			synctest.Wait()
			c.nc.Read(make([]byte, 4096))
		}
		wantTold(t, p, "order client FLUSHALL unknown map[m1:granted m2:pending]", "order client FLUSHDB 0 refused map[m1:refused m2:refused]", "order client LOCK FORCE 0 k refused")
		r.endAudited()
	})
}

// TestOrderIsHisWhoHasGivenIt, also where he says that he is somebody else, elsewhere, before it is answered.
func TestOrderIsHisWhoHasGivenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{}
		cfg.Commands.Users = everybodyOperates
		r, p := newAudited(t, cfg)
		c := r.dial()
		c.send("CLIENT SETNAME me\r\nSELECT 2\r\n")
		c.expect("+OK\r\n+OK\r\n")
		c.send("FLUSHDB\r\nCLIENT SETNAME another\r\nSELECT 3\r\n")
		synctest.Wait()
		r.engine.answer(t, "", quorum.Result{Decision: quorum.Won, Needed: 1, Answers: []quorum.SurveyAnswer{on("OK")}, Votes: quorum.Votes(quorum.Granted)})
		c.expect("+OK\r\n+OK\r\n+OK\r\n")
		if told := p.String(); !strings.Contains(told, `"name":"me"`) || !strings.Contains(told, `"db":2`) {
			t.Errorf("told is %s", told)
		}
		r.endAudited()
	})
}

func TestDenialsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{}
		cfg.Commands.Password = func() string { return "secret" }
		r, p := newAudited(t, cfg)
		c := r.dial()
		c.send("GET key-of-a-stranger\r\nGET k\r\nAUTH wr0ng\r\nHELLO 3 AUTH default wr0ng\r\nAUTH wr0ng default\r\n")
		c.expect("-NOAUTH Authentication required.\r\n-NOAUTH Authentication required.\r\n" + wrongPass + wrongPass + wrongPass)
		c.send("AUTH secret\r\nLOCK DRAIN m1\r\nKEYS *\r\n")
		c.expect("+OK\r\n-NOPERM User default has no permissions to run the 'lock|drain' command\r\n-NOPERM ")
		other := r.dial()
		other.send("SET k the-token NX\r\n")
		other.expect("-NOAUTH Authentication required.\r\n")
		r.server.Denied(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7}, "admin-listen")
		r.server.Forbidden(nightShift, "another site's page asks")
		wantTold(t, p,
			"denial client GET no password was given", "denial client AUTH wrong password", "denial client HELLO wrong password", "denial client AUTH wrong password",
			"denial client LOCK DRAIN m1 no right to it", "denial client KEYS no right to it",
			"denial client SET no password was given", "denial admin wrong password", "denial admin another site's page asks")
		for _, secret := range []string{"secret", "wr0ng", "the-token", "stranger"} {
			if strings.Contains(p.String(), secret) {
				t.Errorf("%s is told", secret)
			}
		}
		r.endAudited()
	})
}

func TestCommandThatAClientHasNoRightToIsADenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newAudited(t, Config{})
		c := r.dial()
		c.send("PING\r\n")
		c.expect("+PONG\r\n")
		synctest.Wait()
		rows := commands.Table()
		set := rows[slices.IndexFunc(rows, func(row *commands.Command) bool { return row.Name == "set" })]
		conn := r.server.conn(1)
		conn.raw = []byte("SET k the-token NX\r\n")
		conn.audit(&commands.Action{Command: set, Rejected: true, Forbidden: acl.Denial{Reason: acl.ByCommand, Object: "set"}, DeniedUser: "default",
			Reply: commands.Error("NOPERM User default has no permissions to run the 'set' command")})
		wantTold(t, p, "denial client SET k NX no right to it")
		r.endAudited()
	})
}

func TestWhatBecomesOfUsersIsToldWithoutPasswords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newAudited(t, Config{Commands: commands.Options{Users: everybodyOperates}})
		c := r.dial()
		c.send("ACL SETUSER bob on >the-token ~b +get\r\n")
		c.expect("+OK\r\n")
		c.send("ACL SETUSER bob the-token\r\n")
		c.expect("-ERR Error in ACL SETUSER modifier 'the-token': Syntax error\r\n")
		c.send("ACL DELUSER bob\r\n")
		c.expect(":1\r\n")
		wantTold(t, p, "order client ACL SETUSER bob on >(redacted) ~b +get done", "order client ACL SETUSER bob refused", "order client ACL DELUSER bob done")
		if strings.Contains(p.String(), "the-token") {
			t.Error("a password is told")
		}
		r.endAudited()
	})
}

func TestOrdersOfThePageAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{}
		cfg.Commands.Users = everybodyOperates
		r, p := newAudited(t, cfg)
		r.server.Order(nightShift, "LOCK DRAIN", "m1", "disk", true)
		r.engine.auto = heldBy("t")
		r.server.Free(context.Background(), nightShift, 3, "k", registry.Fingerprint("t"), "it hangs")
		r.server.Free(context.Background(), nightShift, 0, "k", "", "it hangs")
		r.engine.auto = nil
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r.server.Free(ctx, nightShift, 0, "l", "", "it hangs")
		votes := " map[m1:granted m2:refused]"
		wantTold(t, p, "order admin LOCK DRAIN m1 disk done", "order admin LOCK FORCE 3 k it hangs done"+votes, "order admin DEL 0 k it hangs done"+votes,
			"order admin DEL 0 l it hangs unknown")
		if n := strings.Count(p.String(), `"from":"10.0.0.9:4711","user":"default"`); n != 4 {
			t.Errorf("%d lines say who:\n%s", n, p)
		}
		r.endAudited()
	})
}

func TestEveryOrderIsACommand(t *testing.T) {
	n := 0
	for i, is := range ordersByIndex(true) {
		row := commands.Table()[i]
		if is {
			n++
		} else if _, named := orders[row.Name]; named {
			t.Errorf("%s is not found", row.Name)
		}
		// What changes how the proxy runs is an order.
		if strings.HasPrefix(row.Name, "config|") && row.HasFlag("admin") && !is && row.Name != "config|get" && row.Name != "config|help" {
			t.Errorf("%s is no order", row.Name)
		}
	}
	if n != len(orders) {
		t.Errorf("%d of %d orders are commands", n, len(orders))
	}
	if ordersByIndex(false) != nil {
		t.Error("orders are looked for where nothing is audited")
	}
}
