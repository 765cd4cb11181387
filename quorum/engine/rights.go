package engine

import (
	"redlock-proxy/quorum"
)

// A master may refuse releases, and what takes a lost acquire back: it cannot save its data
// set, or has too few replicas; or somebody takes a command from our user, or from all.
//
//	1: A holds k; master 3's disk is full; A releases k
//	2: master 3 writes again: it holds k, and counts as one that may vote
//
// So it is one that is down until it carries out what we need: what it missed is owed to it.

// neverThere is a key that nobody sets.
const neverThere = quorum.PrivateKeys + "never there}"

// rights are the commands that locks are given, told and taken back with, as calls that change
// nothing.
var rights = [][]string{
	{"PERSIST", neverThere}, {"PEXPIRE", neverThere, "1"}, {"DEL", neverThere}, {"EXISTS", neverThere},
	{"TYPE", neverThere}, {"PTTL", neverThere}, {"GETRANGE", neverThere, "0", "0"}, {"GET", neverThere},
	{"SET", neverThere, "", "XX"}, {"RESTORE", neverThere, "0", ""}, {"EVAL", "return 1", "0"}, {"EVALSHA", readScript.SHA, "1", neverThere},
}
