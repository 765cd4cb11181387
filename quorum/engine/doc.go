// Package engine is Redlock over N independent Redis masters: it puts a request
// to all of them at once and tells the asker what a quorum of them decided. It
// is the only door to the masters.
//
// A Request becomes an op (op.go), which is put into the lanes of all masters
// in one step (attempt.go, queue.go). Each lane sends what has gathered (taking.go) as one
// batch on its link (exchange.go, package master), has the answers judged and
// casts its votes (package decide). The vote that decides answers the
// asker, and undo, debts and heals are settled with it or after it (ruling.go, undoing.go, errand.go,
// debt.go). How each kind of request is asked and what follows from its decision has a file:
// acquire.go, extend.go, release.go, write.go, run.go. What is decided is pure; what moves
// bytes decides nothing.
//
// A journaled script of ours whose writes no token signs is a step: it latches its
// keys on the masters (latch.go) until it is decided and what follows is done there
// (step.go, confirmation.go, laggards.go, count.go), and steps of one proxy take turns (turns.go).
//
// Whether a master has a vote its keeper tells by the marker that stands there (keeper.go,
// examine.go, inspect.go, durable.go).
//
// A quarantined master is given back what it lost (quarantine.go, package catchup). Once it
// votes again, it is freed of what nobody holds (ghosts.go), and so is each, over and over,
// of what would never end (eternal.go).
//
// All of this is done in each of the masters' databases by itself (database.go), on lanes of its
// own. An Engine is database 0 and those that are opened beside it (engine.go, databases.go);
// what is known of the masters in all of them is its installation.
//
// What clients publish goes to this proxy's subscribers at once, and in envelopes
// through all masters to those of the other proxies (publish.go, package messages),
// which listen to each master on a connection of its own (listen.go).
//
// Goroutines:
//
//	started by       what                 owns                 ends when            waited for by
//	database.begin   lane.run, each       the link, the batch  it closes            database.close
//	database.begin   lane.freeOfEternal,  its looks            it closes            database.close
//	                 each
//	database.begin   database.sweep       the retries' timer   it closes            database.close
//	New              Engine.tend          databases that no    the engine closes    Engine.Close
//	                                      client has open
//	Engine.tend      closing one of them  its end              it is closed         Engine.Close
//	New              messages.Bus.Run     giving messages to   the engine closes,   Engine.Close
//	                                      the audience         and all are given
//	Subscribe,       Engine.listen, each  the subscription     the engine closes    Engine.Close
//	the first
//	Engine.Close     database.close, of   its end              it is closed         Engine.Close
//	                 each that is open
//	a lane           asking each other    the answer           it is there, or ctx  the lane
//	                 master of its log                         ends
//	a lane           lane.recover, each   its quarantine       that has ended, and  database.close
//	                                                           ghosts are laid
//	a lane           a batch to a master  the batch's answers  they are there, or   the lane
//	                 that is or was far                        the link closes
//	catchup.Run      a step on each       a link of the        the source answers,  the step
//	                 source               catch-up's own       or the link closes
//	members.Change   filling each master  its catch-ups        it holds all keys,   members.Change
//	                                                           or ctx ends
//
// rueidis starts one of its own where a link ends, which ends with it, and to a master that
// is far three for each link.
package engine
