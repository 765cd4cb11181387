// Package engine is Redlock over N independent Redis masters: it puts a request
// to all of them at once and tells the asker what a quorum of them decided. It
// is the door by which requests get to the masters.
//
// A Request becomes an op, which is put into the lanes of all masters in one step. Each lane sends
// what has gathered as one batch on its link (package master), has the answers judged and casts its
// votes (package decide). The vote that decides answers the asker, and undo, debts and heals are
// settled with it or after it. What is decided is pure; what moves bytes decides nothing.
//
//	attempt.go       one attempt at a request, and what it may take
//	op.go            an attempt that is under way: recycle.go, lock.go, longvalue.go
//	shard.go         all lanes see what is asked of a key in one order
//	collapse.go      who asks for a lock that is being asked for; follow.go and bar.go, what else is asked of its key
//	queue.go         what waits for a master; sizes.go, what it comes to in bytes
//	taking.go        what of it goes with the next batch: batch.go, pipelining.go for masters that are far
//	exchange.go      a batch is sent, and answered; sender.go, resend.go, yield_linux.go
//	stay.go          who reads what clients send does so himself with a request that is alone
//	settling.go      what becomes of its answers: sent.go and mark.go, what may have happened to a key since
//	vote.go          a vote is cast; withhold.go, whether it counts
//	ruling.go        what follows from a decision, in a file for each kind of request: acquire.go,
//	                 extend.go, release.go, read.go, write.go, run.go, survey.go (kinds.go)
//	undoing.go       taking back what was lost: errand.go, debt.go, effect.go; script.go, how
//	                 the master does it
//	dated.go         what names no token does not act later than it was decided; bound.go, on
//	                 nothing else than was decided
//	sweep.go         ends what takes too long
//
// A journaled script whose writes no token signs is a step: ours, and those of clients that write what many share. It latches the tags of its keys on the masters
// until it is decided, and what follows is done there:
//
//	turns.go         steps of one proxy take turns
//	latch.go         what keeps the key, and how a step ends
//	step.go          what follows from its decision: confirmation.go, count.go, laggards.go
//	differing.go     what a lost one sets right; unsure.go, who may have done it; mending.go looks for what is left unlike
//
// A lane is one master, in one database:
//
//	lane.go          the queue, the connector, the keeper and the sender of one
//	connector.go     makes the connection, and carries batches on it: connect.go, claims.go, rights.go,
//	                 lanepreflight.go
//	keeper.go        whether the master has a vote, by the marker that stands there: examine.go, inspect.go,
//	                 marking.go, past.go, durable.go, jumps.go, lone.go
//	quarantine.go    a master is given back what it lost (package catchup). Once it votes again, it is freed
//	                 of what nobody holds (ghosts.go), and so is each, over and over, of what would never end
//	                 (eternal.go)
//
// An Engine is database 0 and those that are opened beside it:
//
//	engine.go        the door; config.go, operator.go
//	database.go      the lanes of one; databases.go, unopened.go, the others and when they are opened
//	installation.go  what is known of the masters in all of them: firstrun.go, firststatus.go, clock.go
//	status.go        what is told of it: picture.go, shortage.go, short.go, counters.go
//	publish.go       what clients publish goes to this proxy's subscribers at once, and in envelopes through
//	                 all masters to those of the other proxies (package messages), which listen to each
//	                 master on a connection of its own (listen.go)
//	inquire.go       what proxies ask each other goes the same way
//	tracking.go      masters tell of keys that change, on a connection of its own to each
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
//	Consult,         Engine.listen, each  the subscription     the engine closes    Engine.Close
//	Subscribe or
//	Inquire, the
//	first of them
//	the same         Engine.answer        asking the           the engine closes    Engine.Close
//	                                      colleague
//	the first Watch  Engine.track, each,  the connection that  the engine closes    Engine.Close
//	                 and who asks on it   tells of changes
//	Engine.Close     database.close, of   its end              it is closed         Engine.Close
//	                 each that is open
//	a lane           asking each other    the answer           it is there, or ctx  the lane
//	                 master of its log                         ends
//	a lane           lane.recover, each   its quarantine       that has ended, and  database.close
//	                                                           ghosts are laid
//	a lane           a batch to a master  the batch's answers  they are there, or   the lane
//	                 that is or was far                        the link closes
//
// A link, a catch-up and a change of the set have more: see packages master, catchup and members.
package engine
