// Package quorum is the words in which Redlock is asked and answers: a Request, the Votes of
// the masters and the Decision that they amount to, a Result, a Script, and the Status of it
// all. They are values; what decides and what moves bytes is in the packages below:
//
//	clock     the arithmetic of time: drift, a master's clock, the time of day
//	marker    what a master's marker says, and what it makes of the master
//	decide    what masters' answers amount to: votes, the decision, what is told
//	dump      what DUMP tells of a key, whichever version of Redis does
//	master    a connection to one master: who is there, what it is asked, what it answers
//	catchup   a master is given back what it lost, and freed of what nobody holds
//	journal   scripts with a record of what they write, by which that can be taken back
//	maxhold   for how long extensions may keep a lock
//	doctor    what is wrong with masters, by what is known of them
//	members   which masters are a set, and how it is begun and changed
//	messages  publish and subscribe among the clients of all proxies, and what these ask each other
//	engine    ops, lanes, keepers: what is asked, undone and owed, and who may vote
//	model     the rules, walked through by Spin
package quorum
