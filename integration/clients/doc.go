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
//
// Some have a third form,
//
//	run restart HOST PORT HOST PORT
//
// in which 50 clients of each library, some at each of two proxies, hold a lock and take and release
// others until the script's input ends, while the proxies are replaced. It prints
//
//	restart begins LIBRARY VERSION
//	error LIBRARY VERSION: N times what: why
//	ok LIBRARY VERSION: N locks by N clients
//
// the first when all clients have their lock. Each key is wanted once: so a lock that is not
// had, or not released, was taken by a command that was carried out and not answered.
package clients
