package main

import "redlock-proxy/quorum"

// step is one column: what happens, in two lines, and who asks for the lock then.
type step struct {
	says     [2]string
	asker    string
	reply    string
	votes    [3]quorum.Vote
	decision quorum.Decision
	because  string
}

// The steps are those of the test that acts them out.
var steps = []step{
	{
		says:  [2]string{"A takes the lock,", "master 3 being away"},
		asker: "A", reply: "OK", votes: [3]quorum.Vote{quorum.Granted, quorum.Granted, quorum.Unknown},
		decision: quorum.Won, because: "2 of 3 granted",
	},
	{says: [2]string{"master 2 restarts,", "its memory is gone"}},
	{
		says:  [2]string{"B asks; master 2", "may not vote"},
		asker: "B", reply: "(nil)", votes: [3]quorum.Vote{quorum.Refused, quorum.Withheld, quorum.Granted},
		decision: quorum.Split, because: "nobody has 2 of 3",
	},
	{says: [2]string{"the others give back", "what master 2 held"}},
	{
		says:  [2]string{"B asks; master 2", "votes again"},
		asker: "B", reply: "(nil)", votes: [3]quorum.Vote{quorum.Refused, quorum.Refused, quorum.Granted},
		decision: quorum.Contended, because: "2 of 3 refused",
	},
}

// span is from when to when a master is in a state, or holds a key, counted in steps.
type span struct {
	from, to float64
	state    quorum.State
}

// master is one row.
type master struct {
	name   string
	states []span
	holds  []span // A's lock
	undone []span // what it granted to B, for as long as that stands
}

// When a client asks, within a step.
const asks = 0.5

var masters = []master{
	{name: "master 1", states: []span{{0, 5, quorum.Voting}}, holds: []span{{from: asks, to: 5}}},
	{
		name: "master 2",
		states: []span{{0, 1.15, quorum.Voting}, {1.15, 1.6, quorum.Down}, {1.6, 3.1, quorum.Quarantined},
			{3.1, 4, quorum.CatchingUp}, {4, 5, quorum.Voting}},
		holds: []span{{from: asks, to: 1.15}, {from: 3 + gives, to: 5}},
	},
	{
		name:   "master 3",
		states: []span{{0, 1, quorum.Down}, {1, 5, quorum.Voting}},
		undone: []span{{from: 2 + asks, to: 2.6}, {from: 4 + asks, to: 4.6}},
	},
}

// gives is when in the fourth step a master is given what it lost.
const gives = 0.8

// notes stand below.
var notes = []string{
	"Without the quarantine master 2 would grant in step 3, as master 3 does: A and B would hold one lock.",
	"Behind each batch of votes a master's marker and clock are read: what it forgot is found out before its vote counts.",
}
