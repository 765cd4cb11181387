package commands

import (
	"slices"
	"strings"
)

// What a lock's script writes its client's token signs, and so a quorum has one holder or none. Other scripts write what
// is made of many clients' writes: a count, or elements beside others'. If two proxies each did that on one master, masters
// would hold what differs from then on. So these are steps, which keep out of each other's way (quorum.NewStep).
//
//	1: of a semaphore with 3 permits A takes one at masters 1 and 2, through one proxy; and B, through another, at 3
//	2: A comes to 3, and B to 1 and 2: each has seen 2 and 1, and all have said yes
//	3: B gives his back, and A does: each release counts from what the other has left there

// compounding are the commands on strings and whole keys that make something of what others have written.
var compounding = strings.Fields("incr incrby decr decrby append rename renamenx copy")

// shares tells that a script writes what is made of many clients' writes, as far as its text tells. Of one that may hide
// what it calls the names count that stand in it; most of such lock, and who waits for a lock asks often, while steps take
// turns.
func (s *scriptCalls) shares() bool {
	return slices.ContainsFunc(s.calls, scriptCall.shares) || s.any && s.gathers
}

// gathers tells that what a command writes is made of many clients' writes, whatever its arguments are.
func (c *Command) gathers() bool {
	of := func(kind string) bool { return hasWord(c.Categories, kind) }
	return c != nil && c.HasFlag("write") && (of("list") || of("set") || of("sortedset") || slices.Contains(compounding, c.Name))
}

// shares tells it of a call. Of a hash what is its client's own are the fields that it gives as arguments; and keys of
// names that a script makes up are several clients'.
func (c scriptCall) shares() bool {
	if !c.command.known || c.command.n != 0 {
		return false
	}
	row := rowNamed(c.command.text)
	return row.gathers() || row != nil && row.HasFlag("write") && (c.made || hasWord(row.Categories, "hash") && c.second.known && c.second.n == 0)
}
