// Command bench measures what the proxy costs, beside what it stands between:
// one redis-server that is asked directly, nutcracker in front of one, redsync
// on the same masters, and a proxy without duties before them. It builds the
// proxy, starts everything, and prints Markdown tables: what was reached of what
// the project wants to reach, and the figures behind it.
//
//	go run ./integration/bench                     about twenty minutes
//	go run ./integration/bench -short              two minutes, rougher
//	go run ./integration/bench -list               the names of the trials
//	go run ./integration/bench -run 'set|release'  some of them
//	go run ./integration/bench -growth             how cost grows with masters, connections, keys and values
//	go run ./integration/bench -before OTHER       beside another build of it, before the same masters
//	go run ./integration/bench -profile profiles   CPU and allocation profiles of a proxy inside this process
//
// Two sides of a comparison take turns, A B B A A B and so on, and every turn
// of one is compared with the turn of the other beside it, so that what else
// the machine does falls on both. A figure is the median of these ratios, with
// the quartiles beside it. Ratios mean something within one run alone, and on
// a machine that does other things at the same time they mean little.
//
// CPU is what the kernel has booked for a process. Calls are its reads and
// writes as /proc/<pid>/io counts them: epoll_wait and futex are not among
// them. What a redis-benchmark costs is not booked for anybody.
//
// Goroutines:
//
//	started by        owns                        ends when                waited for by
//	lockers.load      one client's connection     its time is over         lockers.load
//	newDelayLine      the listener                delayLine.close          delayLine.close
//	delayLine.accept  one direction of a          its connection is        delayLine.close
//	                  connection: one that reads  closed
//	                  it and one that writes it
//	openInside        Serve on its listener       inside.close             inside.close
package main
