// Command attack shows what a client can do to the others. It runs each attack on a proxy
// over three real redis-servers, and on one real Redis, in turns, beside a bystander: a
// client that takes locks of its own and gives them back at its pace. It prints a Markdown
// table, and ends with 1 if an attack does more than it may.
//
//	go run ./integration/attack                  some five minutes
//	go run ./integration/attack -short           less than one, on any machine
//	go run ./integration/attack -list            the names of the attacks
//	go run ./integration/attack -run 'docs|all'  some of them
//	go run ./integration/attack -for 20s         with longer turns
//
// Each attack has servers of its own. Its turns alternate, proxy Redis Redis proxy and so on; a
// figure is the median of its turns. Whoever attacks is a process of his own, and so is
// every server: the bystander has this one for itself, but all of them share the machine's
// processors, so that the more an attacker asks for, the longer everybody takes, the one Redis's
// bystander as well.
//
// What an attack may do:
//
//   - its like at one Redis: the bystander's p99 is at most twice what the same attack makes
//     of it at one Redis, and as much more as it is when nobody attacks: a proxy asks three
//     masters where one Redis answers by itself. For that, -run is to choose quiet, too.
//   - a p99, an answer within a second: where one Redis serves nobody, there is no like.
//   - no refusal: the bystander, and whoever asks for nothing wrong beside it, is refused nothing.
//   - memory: the proxy takes at most max-client-memory and a quarter more than when it is idle.
//   - always: the proxy and its masters are there afterwards, are the same processes, and the
//     bystander has a lock. Nothing that the proxy prints is a panic.
//
// With -short nothing counts that hangs on how fast the machine is: a time is printed, and
// fails nothing; masters may take as long as they want; and max-client-memory is low, since it is to be
// reached soon.
//
// Goroutines:
//
//	started by        owns                    ends when                  waited for by
//	sendOut           what an attacker's      the attacker has ended     processes.recall
//	                  process prints
//	assault.until     the connections of its  the parent says so, or is  the process's end
//	                  process                 gone
//	each attacker     its connections         the same                   the function that started it
package main
