// Command nemesis lets clients in processes of their own contend for locks
// through several proxies before real redis-servers, makes faults happen
// meanwhile, and holds what the clients saw to what a lock promises. It is a
// module of its own, so that the program under test does not depend on what it
// is tested with. Run it here, or with go run -C integration/nemesis .
//
// What else clients do with keys meets the same faults: package queue judges who
// was given what, package cached who kept what too long, and package lease also
// who waited for a lock that was free. So clients do several kinds of work, each
// in processes of its own; and when the faults are over and all masters vote they
// settle: they take what is left, and look at what they have kept.
//
// A house is the masters and the proxies; hands are those who make faults
// happen; a round is some time of both. What a round shows is judged by
// package lease, three times over: by Porcupine and a model of a lock, by a
// sweep over who relied on a lock when, and by files that the locks guard.
//
// The seed decides which faults meet whom and when, and what clients do; how
// the machine schedules it all is another matter, so that a seed makes the
// same trouble again and not the same history.
//
// Goroutines:
//
//	started by     owns                        ends when                    waited for by
//	house.play     a hand                      the round is over, and the   house.play
//	                                           last fault mended
//	house.invite   what a company says         the company has ended        company.leave,
//	                                                                        house.dismiss
//	labour         one client, in its process  the round is over;           labour
//	               again, to settle            it has settled
//	newLink        a toxiproxy's own           link.close, link.cut         nobody: they end
//	                                                                        with their sockets
package main
