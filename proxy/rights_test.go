package proxy

import (
	"testing"
	"testing/synctest"

	"redlock-proxy/commands"
)

const twoUsers = "user default on nopass ~* &* +@all\nuser bob on nopass ~b:* &b:* +@all\nuser carol on nopass ~c:* &c:* +@lock\n"

// Who listens hears nothing any more once his rights are others, whatever they are.
func TestWhoListensIsEndedWhenHisRightsChange(t *testing.T) {
	for begin, answer := range map[string]string{
		"MONITOR\r\n":        "+OK\r\n",
		"SUBSCRIBE b:1\r\n":  "*3\r\n$9\r\nsubscribe\r\n$3\r\nb:1\r\n:1\r\n",
		"PSUBSCRIBE b:*\r\n": "*3\r\n$10\r\npsubscribe\r\n$3\r\nb:*\r\n:1\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{Commands: commands.Options{Users: twoUsers}})
			bob, operator := r.dial(), r.dial()
			bob.send("AUTH bob x\r\n" + begin)
			bob.expect("+OK\r\n" + answer)
			operator.send("ACL SETUSER bob resetchannels -monitor\r\n")
			operator.expect("+OK\r\n")
			bob.expectEnd("")
			operator.send("PING\r\n")
			operator.expect("+PONG\r\n")
			r.end()
		})
	}
}

// Who listens by several rights, or monitors and may use few keys, listens on after he has shown again who he is.
func TestWhoMayListenListensOn(t *testing.T) {
	for rules, begin := range map[string]string{
		"+@connection (+subscribe &x*) (+subscribe &y*)": "SUBSCRIBE x\r\nSUBSCRIBE y\r\n",
		"+@connection (+psubscribe &x) (+psubscribe &y)": "PSUBSCRIBE x\r\nPSUBSCRIBE y\r\n",
		"+@connection +monitor ~few":                     "MONITOR\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{Commands: commands.Options{Users: "user dave on nopass " + rules + "\n"}})
			dave := r.dial()
			for _, text := range []string{"HELLO 3 AUTH dave x\r\n", begin, "AUTH dave x\r\n"} {
				dave.send(text)
				dave.drain()
			}
			dave.send("PING\r\n")
			dave.expect("+PONG\r\n")
			dave.drain()
			r.end()
		})
	}
}

func TestUserWhoIsGoneIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: twoUsers}})
		bob, carol, operator := r.dial(), r.dial(), r.dial()
		bob.send("AUTH bob x\r\n")
		bob.expect("+OK\r\n")
		carol.send("AUTH carol x\r\n")
		carol.expect("+OK\r\n")
		operator.send("ACL DELUSER bob nobody\r\n")
		operator.expect(":1\r\n")
		bob.expectEnd("")
		carol.send("ACL WHOAMI\r\n")
		carol.expect("$5\r\ncarol\r\n")
		r.end()
	})
}

// What others listen to may be the name of a lock.
func TestChannelsAreToldToWhoMayUseThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: twoUsers}})
		bob, carol := r.dial(), r.dial()
		bob.send("AUTH bob x\r\nSUBSCRIBE b:1\r\n")
		bob.expect("+OK\r\n*3\r\n$9\r\nsubscribe\r\n$3\r\nb:1\r\n:1\r\n")
		carol.send("AUTH carol x\r\nPUBSUB CHANNELS\r\nPUBSUB NUMSUB b:1\r\n")
		carol.expect("+OK\r\n*0\r\n-NOPERM No permissions to access a channel\r\n")
		r.end()
	})
}

func TestDenialsThatAreAlikeAreOneInACLLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: twoUsers}})
		carol, operator := r.dial(), r.dial()
		carol.send("AUTH carol x\r\nGET b:1\r\nGET b:1\r\nFLUSHALL\r\nEVAL \"return redis.call('get',KEYS[1])\" 1 d\r\n")
		carol.expect("+OK\r\n-NOPERM No permissions to access a key\r\n-NOPERM No permissions to access a key\r\n" +
			"-NOPERM User carol has no permissions to run the 'flushall' command\r\n-NOPERM No permissions to access a key\r\n")
		for range maxACLLog + 10 {
			operator.send("AUTH nobody x\r\n")
			operator.expect(wrongPass)
		}
		if n := len(r.server.aclLog.list); n != 4 {
			t.Errorf("%d are listed", n)
		}
		operator.send("HELLO 2 AUTH nobody x\r\n")
		operator.expect(wrongPass)
		operator.send("HELLO 3\r\n")
		operator.drain()
		operator.send("ACL LOG 1\r\n")
		operator.expect("*1\r\n%10\r\n$5\r\ncount\r\n:1\r\n$6\r\nreason\r\n$4\r\nauth\r\n$7\r\ncontext\r\n$8\r\ntoplevel\r\n" +
			"$6\r\nobject\r\n$5\r\nHELLO\r\n$8\r\nusername\r\n$6\r\nnobody\r\n$11\r\nage-seconds\r\n,")
		operator.drain()
		operator.send("ACL LOG RESET\r\nACL LOG\r\n")
		operator.expect("+OK\r\n*0\r\n")
		r.end()
	})
}

// Where there is no file of users nobody is told that they could be stored elsewhere.
func TestUsersAreStoredInAFileAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: twoUsers}})
		operator := r.dial()
		operator.send("ACL SAVE\r\nACL LOAD\r\n")
		none := "-ERR This Redis instance is not configured to use an ACL file. You may want to name one with aclfile: CONFIG REWRITE stores no users.\r\n"
		operator.expect(none + none)
		r.end()
	})
}
