// Package recognise tells of a client's script whether it is a release or an extend: a script
// that compares one key with a token, and deletes it or gives it a new expiry where they are
// the same, as lock libraries send it; or an acquire, which is SET NX in its words (acquire.go).
//
//	shape, ok := recognise.Script(text) // which of KEYS and ARGV are key, token and ttl, and what is answered when
//
// That is decided once for each text, and without a session: what a call of the script gives,
// and whether it is served so, is package commands' to say.
//
// # Why it carries scripts out
//
// Texts are not compared, of which there are dozens: each library has its own, of several
// versions, and people write theirs. Instead a script is parsed (syntax.go states the grammar)
// and carried out on each state that its key can be in: there is none, it holds the token,
// another value or no string, with an expiry or without; and that with a ttl argument above 0
// and with another, and with an argument that asks for the ttl to be added to what is left. The
// token, the value and the ttl are symbols meanwhile, known by their origin (run.go, value.go).
// What was done and answered in all the states is then either what one Release, Extend or Acquire does,
// or nothing that is recognised (shape.go). So spelling, names of locals and the order of
// branches make no difference.
//
// # What is exact
//
// A script has no loops here and no functions of its own, so a run ends and there are few of
// them; and a condition that the state does not decide ends the attempt. So a script that is
// recognised does in every state what its Shape says, and nothing else: whatever else it might
// do, in whatever state of the key, makes it unrecognised. What parses here compiles in Lua and
// means the same there.
//
// # What is taken for granted
//
// What must hold for a call to be served: KEYS and ARGV have all that the script looks at
// (Shape's Keys and Args), since one that is not given is nil, which may turn any condition;
// and the ttl argument is a whole number in decimal. A key that is no string ends the script
// with Redis's error, and ours as well. Whoever serves a call looks that this is so.
//
// # What is not recognised
//
// A script with a loop, a function of its own or a table that is no reply; one that needs
// another command than the handful that lock scripts use (store.go), a second key, a second
// write but for the expiry of what was just set, or the key again for its answer after the write; one that computes anything but a ttl
// argument added to what is left of the ttl; a number that is no whole one in decimal, and text
// that two versions of Lua read differently (token.go); and what is beyond the limits in
// syntax.go. Nothing is lost by that: it runs on the masters as any other script does.
package recognise
