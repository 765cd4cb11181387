package doctor

import (
	"fmt"
	"slices"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

// purpose is what a command is needed for.
type purpose uint8

const (
	forLocks purpose = iota + 1
	forScripts
	forMessages
	forFirstStart
	forGhosts
	forChange
	forSettings
	forBusy
	forWaits // where acquires wait alone
	forFlush // of who may operate alone
)

// lacks is what follows where a command is refused.
func (p purpose) lacks() (severity Severity, means string) {
	switch p {
	case forLocks:
		return Breaks, "it has no vote, on some commands at least"
	case forScripts:
		return Warning, "it has no vote on scripts, transactions, counters, hashes and whatever else is no string"
	case forMessages:
		return Warning, "it does not carry what is published, and by it proxies do not hear each other"
	case forFirstStart:
		return Warning, "proxies cannot tell that it is new, and do not mark it: that is for bootstrap"
	case forGhosts:
		return Warning, "keys that nobody holds stay there until their ttl ends"
	case forChange:
		return Warning, "change-masters cannot tell whether proxies are connected to it"
	case forSettings:
		return Warning, "whether it is durable is not known, so it is taken for one that is not; nor are its other settings looked at here"
	case forBusy:
		return Warning, "while somebody's script keeps it busy, it has no vote, and proxies cannot end that"
	case forWaits:
		return Warning, "who waits for a lock (acquire-wait) that is freed through another proxy has it up to a second later"
	}
	return Warning, "FLUSHALL and FLUSHDB, which users with the right to @operate may call, have no vote of it"
}

// Call is a command that a master's user needs, in a form that changes nothing and harms nobody,
// whatever is on the master.
type Call struct {
	Name string // as ACL SETUSER has it
	Args []string
	need purpose
}

// nothing is a key that is not there. The user may use it, as it is one of the proxy's own.
const nothing = quorum.PrivateKeys + "doctor}"

// Calls are what a master is asked, in order: what may leave the connection in another state comes
// last.
//
// AUTH and HELLO need no right. No id of a client's is as great as that of CLIENT KILL; 0 would be
// all of them, before 7.0.
var Calls = []Call{
	{"SET", []string{"SET", nothing, "", "NX", "XX"}, forLocks}, // which nothing can be
	{"GET", []string{"GET", nothing}, forLocks},
	{"MGET", []string{"MGET", nothing}, forLocks},
	{"GETRANGE", []string{"GETRANGE", nothing, "0", "0"}, forLocks},
	{"EXISTS", []string{"EXISTS", nothing}, forLocks},
	{"DEL", []string{"DEL", nothing}, forLocks},
	{"EXPIRE", []string{"EXPIRE", nothing, "1"}, forLocks},
	{"PEXPIRE", []string{"PEXPIRE", nothing, "1"}, forLocks},
	{"PERSIST", []string{"PERSIST", nothing}, forLocks},
	{"PTTL", []string{"PTTL", nothing}, forLocks},
	{"TYPE", []string{"TYPE", nothing}, forLocks},
	{"TIME", []string{"TIME"}, forLocks},
	{"INFO", []string{"INFO", "server"}, forLocks},
	{"PING", []string{"PING"}, forLocks},
	{"SCAN", []string{"SCAN", "0", "COUNT", "1"}, forLocks},
	{"SELECT", []string{"SELECT", "0"}, forLocks},
	{"SCRIPT|LOAD", []string{"SCRIPT", "LOAD", "return 1"}, forLocks},
	{"EVAL", []string{"EVAL", "return 1", "0"}, forLocks},
	{"EVALSHA", []string{"EVALSHA", strings.Repeat("0", 40), "0"}, forLocks}, // which is no script's
	{"RESTORE", []string{"RESTORE", nothing, "-1", ""}, forLocks},            // which is no ttl
	{"CLIENT|ID", []string{"CLIENT", "ID"}, forLocks},
	{"CLIENT|KILL", []string{"CLIENT", "KILL", "ID", "9223372036854775807"}, forLocks},
	{"DBSIZE", []string{"DBSIZE"}, forFirstStart},
	{"CLIENT|SETNAME", []string{"CLIENT", "SETNAME", "doctor"}, forChange},
	{"CLIENT|LIST", []string{"CLIENT", "LIST", "ID", "9223372036854775807"}, forChange},
	{"CONFIG|GET", []string{"CONFIG", "GET", "appendonly"}, forSettings},
	{"CLIENT|TRACKING", []string{"CLIENT", "TRACKING", "OFF"}, forWaits},
	{"DUMP", []string{"DUMP", nothing}, forScripts},
	{"PEXPIREAT", []string{"PEXPIREAT", nothing, "1"}, forScripts},
	{"HGETALL", []string{"HGETALL", nothing}, forScripts},
	{"SMEMBERS", []string{"SMEMBERS", nothing}, forScripts},
	{"ZRANGE", []string{"ZRANGE", nothing, "0", "0"}, forScripts},
	{"LRANGE", []string{"LRANGE", nothing, "0", "0"}, forScripts},
	{"HLEN", []string{"HLEN", nothing}, forScripts},
	{"HGET", []string{"HGET", nothing, "f"}, forScripts},
	{"HSET", []string{"HSET", nothing}, forScripts}, // which is too few
	{"HDEL", []string{"HDEL", nothing, "f"}, forScripts},
	{"HEXISTS", []string{"HEXISTS", nothing, "f"}, forScripts},
	{"HRANDFIELD", []string{"HRANDFIELD", nothing}, forScripts},
	{"SCARD", []string{"SCARD", nothing}, forScripts},
	{"ZCARD", []string{"ZCARD", nothing}, forScripts},
	{"LLEN", []string{"LLEN", nothing}, forScripts},
	{"ZCOUNT", []string{"ZCOUNT", nothing, "0", "0"}, forScripts},
	{"ZLEXCOUNT", []string{"ZLEXCOUNT", nothing, "-", "+"}, forScripts},
	{"STRLEN", []string{"STRLEN", nothing}, forScripts},
	{"HSTRLEN", []string{"HSTRLEN", nothing, "f"}, forScripts},
	{"MEMORY|USAGE", []string{"MEMORY", "USAGE", nothing}, forScripts},
	{"SLOWLOG|GET", []string{"SLOWLOG", "GET", "0"}, forBusy},
	{"PUBLISH", []string{"PUBLISH", nothing, ""}, forMessages}, // a channel that nobody listens to
	{"WATCH", []string{"WATCH", nothing}, forGhosts},
	{"MULTI", []string{"MULTI"}, forGhosts},
	{"EXEC", []string{"EXEC"}, forGhosts},
	{"SUBSCRIBE", []string{"SUBSCRIBE", messages.Channel}, forMessages},
}

// Dry are commands that have no harmless form: they are asked about by ACL DRYRUN, where that is
// known and allowed.
var Dry = []Call{
	{"SCRIPT|KILL", []string{"SCRIPT", "KILL"}, forBusy},
	{"FLUSHALL", []string{"FLUSHALL"}, forFlush},
	{"FLUSHDB", []string{"FLUSHDB"}, forFlush},
}

// judgeRights tells of commands that a master refuses, those for one purpose together.
func judgeRights(facts *Facts, m *Master, found *findings) {
	for need := forLocks; need <= forFlush; need++ {
		var forbidden, unknown []string
		for _, c := range slices.Concat(Calls, Dry) {
			switch text := m.Calls[c.Name]; {
			case c.need != need || need == forFlush && !facts.Flushes, need == forWaits && !facts.Waits:
			case unknownTo(text):
				unknown = append(unknown, c.Name)
			case c.Name == "PUBLISH" && strings.Contains(text, "channel"): // that one, of which it need not know
			case forbids(m, c.Name):
				forbidden = append(forbidden, c.Name)
			}
		}
		severity, means := need.lacks()
		if len(forbidden) > 0 {
			found.of(m, severity, "rights", fmt.Sprintf("its user may not use %s", strings.Join(forbidden, " ")), means, allow(forbidden))
		}
		if len(unknown) > 0 {
			found.of(m, severity, "renamed", fmt.Sprintf("it knows no %s", strings.Join(unknown, " ")), means,
				"leave out rename-command in its redis.conf, and limit users by ACL instead")
		}
	}
}

// forbids tells that the master's user may not use a command.
func forbids(m *Master, name string) bool { return strings.HasPrefix(m.Calls[name], "NOPERM ") }

// unknownTo tells that a server has no command of this name, by its error: to the command, or to
// ACL DRYRUN.
func unknownTo(text string) bool {
	return strings.HasPrefix(text, "ERR unknown command") || strings.HasPrefix(text, "ERR Command '") && strings.HasSuffix(text, "not found")
}

// allow is how a user is given rights.
func allow(names []string) string {
	return "ACL SETUSER <user of master-user> +" + strings.ToLower(strings.Join(names, " +")) + " ~" + quorum.PrivateKeys + "* &" + messages.Channel + ", and ACL SAVE or CONFIG REWRITE"
}
