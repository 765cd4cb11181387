package main

import "time"

// attack is one thing that is done to a server and its other clients.
type attack struct {
	name  string // for -run
	title string // in the table
	crew  []string
	may   may

	liar      bool // one master's answers are not true
	proxyOnly bool // there is nothing like it at one Redis, or it would not end there
}

// may is what an attack may do. The zero value is what every attack may.
type may struct {
	likeRedis  bool          // to the bystander's p99 what it does at one Redis
	p99        time.Duration // to the bystander's p99; 0: whatever
	answers    time.Duration // how long the attacker waits for the longest answer; 0: however long
	bounded    bool          // no more memory than clients may take
	refusals   bool          // somebody may be refused something
	onlyErrors bool          // every answer that the attacker gets is an error
}

// attacks is all of them, in the order of the table.
func attacks() []attack {
	return []attack{
		{name: "quiet", title: "nobody attacks"},
		{name: "pipeline", title: "one client pipelines `SET NX PX` without pause", crew: []string{"pipeline"}, may: may{likeRedis: true}},
		{name: "pipelines", title: "four such", crew: []string{"pipelines"}, may: may{likeRedis: true}},
		{name: "resets", title: "connections that are reset at once, 10,000 a second if the machine can", crew: []string{"resets"}, may: may{likeRedis: true}},
		{name: "docs", title: "20 clients ask for `COMMAND DOCS` and read nothing", crew: []string{"docs"}, may: may{likeRedis: true, bounded: true}},
		{name: "long", title: "one `MGET` of 8 KiB names a value of 1 MiB a thousand times, again and again; another client reads 900 values of 100 KiB at a time",
			crew: []string{"long", "diligent"}, may: may{bounded: true}},
		{name: "unfinished", title: "500 connections with an unfinished argument of 1 MiB each", crew: []string{"unfinished"}, may: may{bounded: true}},
		{name: "deaf", title: "20 subscribers that do not read, and one client that publishes", crew: []string{"deaf"}, may: may{bounded: true}},
		{name: "unread", title: "20 clients ask for values of 1 MiB without pause and read nothing", crew: []string{"unread"}, may: may{bounded: true}},
		{name: "values", title: "four clients pipeline `SET` of values of 1 MiB without pause", crew: []string{"values"}, may: may{bounded: true}},
		{name: "collections", title: "four clients read, watch, count and extend a set of 20,000 members each, without pause", crew: []string{"collections"},
			may: may{p99: 50 * time.Millisecond}},
		{name: "liar", title: "a master announces 1.5 GiB, again and again", liar: true, proxyOnly: true, may: may{bounded: true}},
		{name: "auth", title: "four clients guess passwords without pause", crew: []string{"auth"}, may: may{likeRedis: true, bounded: true}},
		{name: "endless", title: "20 clients run endless scripts, half of them behind a write", crew: []string{"endless"},
			may: may{p99: 50 * time.Millisecond, answers: time.Second, onlyErrors: true}},
		{name: "turncoats", title: "64 clients at once ask for an endless script that did nothing before, and then for another one", crew: []string{"turncoats"},
			may: may{p99: 50 * time.Millisecond, answers: time.Second, onlyErrors: true}},
		{name: "collisions", title: "20 clients give scripts a thousand arguments that collide where Lua keeps its strings", crew: []string{"collisions"},
			may: may{p99: 50 * time.Millisecond}},
		{name: "texts", title: "up to 20,000 scripts, each another one", crew: []string{"texts"}, may: may{p99: 50 * time.Millisecond, bounded: true}},
		{name: "all", title: "all of these at once", liar: true, proxyOnly: true, may: may{bounded: true, refusals: true},
			crew: []string{"pipeline", "pipelines", "resets", "docs", "long", "diligent", "unfinished", "deaf", "unread", "values", "collections", "auth", "endless", "turncoats", "collisions", "texts"}},
	}
}
