// Package marker is what a master's marker says, the key by which it is known to remember: to
// which set the master belongs and on which terms, under which nonce it votes or is kept out,
// and what it tells of its process, its log and its losses. And it is what a marker makes of a
// master: Examine judges one by that text and by what its server says of itself. All of it is
// pure, but that nonces are drawn at random.
//
//	marker.go      what stands in it
//	nonce.go       what a batch's proof reads of it
//	terms.go       what all proxies of a set must agree on
//	identity.go    what a server says of itself
//	verdict.go     what the marker makes of the master
//	log.go         which log on a master's disk is whole
//	firststart.go  the first start of a set, and which installation stands
//	lone.go        a marker on the one master of a lone proxy
//	unfit.go       why a server can be no master
package marker
