package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// forbid has a master refuse some commands, and what scripts do with them, as Redis does whose
// ACL does not let our user give them.
func forbid(commands ...string) func(*fakeMaster) { return forbidSaying(noPermission, commands...) }

func noPermission(args []string) string {
	return "-NOPERM this user has no permissions to run the '" + strings.ToLower(args[0]) + "' command\r\n"
}

// unknown is what a Redis says that knows the command by another name.
func unknown(args []string) string {
	return "-ERR unknown command `" + args[0] + "`, with args beginning with: `" + strings.Join(args[1:], "`, `") + "`, \r\n"
}

func forbidSaying(says func(args []string) string, commands ...string) func(*fakeMaster) {
	frees := []string{releaseScript.SHA, removeScript.SHA, takeBackScript.SHA, putBackScript.SHA}
	return func(m *fakeMaster) {
		m.set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				switch {
				case slices.Contains(commands, args[0]):
					return says(args)
				case slices.Contains(commands, "DEL") && args[0] == "EVALSHA" && slices.Contains(frees, args[1]):
					return "-ERR The user executing the script can't run this command or subcommand script: 1, on @user_script:2.\r\n"
				}
				return ""
			}
		})
	}
}

// Two of three masters do not let go of locks for a while. What was released is read by nobody
// meanwhile, and is gone when they do again.
func TestMasterThatForbidsWhatLocksNeedIsDownUntilItAllowsIt(t *testing.T) {
	notInstrumented(t)
	for name, r := range map[string]quorum.Request{
		"DEL":     {Kind: quorum.Remove, Key: "k"},
		"release": {Kind: quorum.Release, Key: "k", Token: "secret"},
	} {
		for _, commands := range [][]string{{"EVALSHA"}, {"DEL"}, {"EVAL", "EVALSHA", "DEL"}} {
			for how, says := range map[string]func([]string) string{"forbidden": noPermission, "unknown": unknown} {
				t.Run(name+" where "+strings.Join(commands, ", ")+" is "+how, func(t *testing.T) {
					inWorld(t, 3, func(w *world) {
						w.want(w.acquire("k", "secret", 0), quorum.Won)
						w.settle()
						w.each(forbidSaying(says, commands...), 2, 3)
						w.want(w.ask(r), quorum.Won)
						if read := w.ask(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true}); read.Decision == quorum.Won && read.Exists {
							t.Errorf("it is released, and reads %q", read.Value)
						}
						w.settle()
						time.Sleep(w.cfg.ProbeInterval / 2)
						for i := 2; i <= 3; i++ {
							s := w.state(i)
							reason := strings.ToUpper(s.Reason)
							if s.State != quorum.Down || !slices.ContainsFunc(commands, func(c string) bool { return strings.Contains(reason, c) }) {
								t.Errorf("%s is %v: %s", s.Name, s.State, s.Reason)
							}
							if strings.Contains(reason, "SECRET") || strings.Contains(reason, "WITH ARGS") {
								t.Errorf("told is %s", s.Reason)
							}
						}
						time.Sleep(time.Minute)
						w.each(writeAgain, 2, 3)
						time.Sleep(5 * time.Second)
						w.wantValues("k", "", "", "")
						w.want(w.acquire("k", "b", time.Minute), quorum.Won)
						if s := w.engine.Status(); s.DebtsOwed != 2 || s.DebtsPaid != 2 || s.DebtsLeft != 0 || s.UndosMissed != 0 {
							t.Errorf("owed %d, paid %d, left %d, missed %d", s.DebtsOwed, s.DebtsPaid, s.DebtsLeft, s.UndosMissed)
						}
					})
				})
			}
		}
	}
}

// It is found out within a probe-interval, whether anybody asks for anything or not.
func TestMasterThatForbidsWhatLocksNeedIsFoundOut(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		forbid("EVAL")(w.masters[2])
		time.Sleep(2 * w.cfg.ProbeInterval)
		if s := w.state(3); s.State != quorum.Down || !strings.Contains(s.Reason, "'eval'") {
			t.Errorf("it is %v: %s", s.State, s.Reason)
		}
	})
}

// What is to be taken back, and is not, is tried until it is, also when the connection ends
// meanwhile.
func TestWhatAMasterForbidsToTakeBackStaysOwed(t *testing.T) {
	for _, cut := range []bool{false, true} {
		inWorld(t, 3, func(w *world) {
			w.down(3)
			w.want(w.acquire("k", "a", time.Hour), quorum.Won)
			w.up(3)
			w.masters[2].set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if args[0] == "EVALSHA" && args[1] == takeBackScript.SHA {
						return "-ERR The user executing the script can't run this command or subcommand script: 1, on @user_script:2.\r\n"
					}
					return ""
				}
			})
			w.late(func() { w.want(w.acquire("k", "b", time.Hour), quorum.Contended) }, 1, 2)
			w.settle()
			w.wantValues("k", "a", "a", "b")
			if writeAgain(w.masters[2]); cut {
				w.masters[2].sever()
			}
			time.Sleep(5 * time.Second)
			w.wantValues("k", "a", "a", "")
			// One that was carried out when the connection ended is tried once more.
			if s := w.engine.Status(); s.UndosMissed != 0 || s.DebtsNeedless > 1 || s.DebtsNeedless > 0 && !cut {
				t.Errorf("%d are missed, %d needless", s.UndosMissed, s.DebtsNeedless)
			}
		})
	}
}

// A key that our user may not use is the client's who names it: nobody else has less of the
// master for that.
func TestMasterThatForbidsAKeyVotesOnAllOthers(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) {
			m.set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if slices.Contains(args, "theirs") {
						return "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n"
					}
					return ""
				}
			})
		}, 1, 2, 3)
		for range 5 {
			w.want(w.acquire("theirs", "a", time.Minute), quorum.Unavailable)
			w.want(w.release("theirs", "a"), quorum.Unavailable)
			w.want(w.acquire("ours", "a", time.Minute), quorum.Won)
			w.want(w.release("ours", "a"), quorum.Won)
			time.Sleep(w.cfg.ProbeInterval)
		}
		for i := 1; i <= 3; i++ {
			if s := w.state(i); s.State != quorum.Voting || s.Reconnects != 0 || s.Withheld != 0 {
				t.Errorf("%s is %v, with %d new connections, and withheld %d votes", s.Name, s.State, s.Reconnects, s.Withheld)
			}
		}
	})
}

// A release and a read stand in one batch.
func TestWhatIsReadBehindARefusedReleaseDoesNotCount(t *testing.T) {
	for name, refuse := range map[string]func(*fakeMaster){"forbidden": forbid("EVALSHA"), "no writes": refuseToWrite} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "a", time.Hour), quorum.Won)
				w.settle()
				w.each(refuse, 2, 3)
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = ms }) }, 1, 2, 3)
				w.put(quorum.Request{Kind: quorum.Read, Key: "other", ValueOnly: true}) // so that the next two share a batch
				release := w.put(quorum.Request{Kind: quorum.Release, Key: "k", Token: "a"})
				read := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true})
				w.want(release.wait(t), quorum.Won)
				if r := read.wait(t); r.Decision == quorum.Won && r.Exists {
					t.Errorf("it is released, and reads %q", r.Value)
				}
			})
		})
	}
}
