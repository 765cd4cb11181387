// Package commands is the Redis dialect as pure values: a client's words become
// an Action, and what the quorum decided becomes a Reply.
//
// It opens no connection, starts no goroutine and reads no clock. A Session is
// one client's; a Dialect is what all of them share: the options and the table of
// scripts. Package lua reads these, and package recognise tells which are a release or
// an extend. Every command is a row of one table, from which its dispatch, the check of
// its arity, COMMAND and HELP come, these with the prose of docs.json.
//
//	session := commands.NewDialect(options).Session(id) // one Dialect, a Session for each connection
//	a := session.Do([]string{"SET", "k", "x", "NX"})    // a.Reply, a.Requests or a.Effect
//	reply, next := a.Render.Render(results)             // once all of a.Requests are decided
//
// What a command comes to is told beside its row:
//
//	session.go       from argv to an Action; table.go, command.go and the rows_*.go, what there is
//	set.go           SET, and with it an acquire; compareset.go, SET IFEQ and DELEX, which extend and
//	                 release; expiry.go, string.go, getset.go, key.go and the rest of the plain commands
//	script.go        EVAL and its kin; call.go, what a script that was recognised asks for; scripttable.go
//	byscript.go      what is one command of Redis's and a script on the masters
//	transaction.go   MULTI; watch.go, WATCH; exec.go, what EXEC asks the masters to do; mixed.go, of scripts among it
//	keyspace.go      what is about all keys; scan.go, walk.go, cursor.go, scans.go
//	render.go        from what was decided to a Reply (reply.go); errors.go, Redis's own words
//	connection.go    HELLO, AUTH and the like; client.go, server.go, docs.go, pubsub.go, tools.go
//	operator.go      LOCK, for whoever runs the masters; lockinfo.go, locklist.go, locktop.go and
//	                 lockforce.go, for whoever looks into locks: contents.go, what masters hold of one,
//	                 lookout.go, what the server has seen, inquiry.go, what proxies ask each other
//	config.go        CONFIG; slowlog.go, latency.go, memory.go, monitor.go, counts.go, what Redis's tools
//	                 ask; shown.go, what of a command others may see
//
// What is told of a lock that this proxy does not know waits for other proxies, in a SlowRender, for
// which no lane waits.
//
// What an Effect asks for, only the server knows or can do; it makes the reply, with Session's
// methods where the session changes by it.
//
// Where Redis has words for an error, they are Redis 7.0's byte for byte:
// clients decide by them. Conversations in testdata show each.
package commands
