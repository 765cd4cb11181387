// Package clients runs lock libraries as their users have them, each in the
// runtime of its language, against the real program over three real masters.
// No client is told anything but the address.
//
// Each folder is a language. Its script run is all that is known of it:
//
//	run install     installs the pinned libraries, into a cache outside the checkout
//	run HOST PORT   runs every scenario with every library
//
// The second prints, besides whatever it likes,
//
//	ok LIBRARY VERSION: what was run
//	FAIL LIBRARY VERSION: what: why
//	pending LIBRARY VERSION: what of the proxy it waits for
//	counter begins LIBRARY
//	counter ends LIBRARY
//
// and ends with an exit code other than 0 if anything failed. Between the last
// two, contenders guard a counter for five seconds, and one master dies.
// Counters that run side by side begin together.
package clients
