// Package integration runs the real program against real redis-servers, which
// it starts, freezes, kills, restarts and cuts off, and holds it to what it
// promises. Nothing of the program imports it but in tests: of clients, of what a
// real Redis is asked about, and the nemesis, the benchmark and the attacks, which are programs.
//
// What is started here listens on 127.0.0.1 or on unix sockets in a temporary
// directory, and ends with whoever started it: Stop and Kill end it by its
// process id, and on Linux the kernel ends it if the test process dies first.
//
// Goroutines:
//
//	started by    owns                     ends when                  waited for by
//	startChild    the wait for a process   the process has ended      Child.done
//	NewRelay      the relay's listener     Relay.Close                Relay.Close
//	Relay.accept  one direction of a       either side of the         Relay.Close
//	              relayed connection       connection is closed
package integration
