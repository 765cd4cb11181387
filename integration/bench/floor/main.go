// Command floor is a proxy without duties, to show what is left for one with them. One thread waits
// for all sockets, forwards what clients send to every master as it is, and gives a client the answer
// that a majority gives. It has no limits, no dialect, no validity, no undo, no proof that a master
// remembers, and believes every byte; what is no SET and no script it answers itself, at once, and an answer is
// a line. Nobody should lock with it.
//
// So it makes the system calls that cannot be saved, and hardly anything else: for a client alone one
// read and three writes, three reads and a write, and a wait before each of the reads.
//
//	floor ADDRESS MASTER...
package main

import (
	"log"
	"os"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: floor ADDRESS MASTER...")
	}
	log.Fatal(serve(os.Args[1], os.Args[2:]))
}
