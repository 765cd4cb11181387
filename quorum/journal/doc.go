// Package journal is what the masters run in the place of a script: its own text, or what package
// lua has printed of a client's, with the prelude of journal.lua around it. That has the script
// know Redis through a shadow which keeps an undo record of each key at its first write, so that
// what only a minority has done can be put back, and answers the record with the script's reply;
// package decide reads that.
//
//	prelude.go, journal.lua   how a script and the prelude are put together
//	helpers.go, helpers.lua   what a client's script has in the place of Lua's functions
//	ours.lua                  the same of one of ours, whose text is known
//	scripts.lua               what one of ours has that runs clients', as a transaction does
//	before.go                 what is looked at before: a date, a step's latches
//	form.go                   by which script and arguments the masters know one
//	constant.go               those that run what they are given
//	kept.go                   how many the masters are made to keep
//
// Nothing here is put to a master: package engine does that.
package journal
