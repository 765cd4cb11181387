// Package marker is what a master's marker says, the key by which it is known to remember: to
// which set the master belongs and on which terms, under which nonce it votes or is kept out,
// and what it tells of its process, its log and its losses. And it is what a marker makes of a
// master: Examine judges one by that text and by what its server says of itself. All of it is
// pure, but that nonces are drawn at random.
package marker
