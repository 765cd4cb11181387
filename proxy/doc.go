// Package proxy is the only door to clients. It accepts connections, finds the
// commands in their bytes under its own limits, puts the requests that a
// command comes to to the engine without waiting for them, and writes the
// replies in the order of the commands.
//
// It knows neither Redis's commands, which package commands does, nor Redlock,
// which package quorum does, nor the protocol's bytes, which package resp does.
//
// The life of one command, here: conn.readReady (polled.go) or, over TLS,
// conn.receive (input.go) gets bytes, resp.Scanner finds where a
// command ends, resp.Parser makes it arguments, conn.command (command.go) asks the
// session what they come to, conn.put (slot.go) gives the reply its place in the
// line and puts the requests as there is room for them (window.go, weight.go, crowd.go, probation.go)
// and their order allows (undecided.go, order.go; what is behind a blocked one is kept by behind.go), ask.Answer brings a result, slot.fill renders the
// reply, resp.Append encodes it, conn.complete (output.go) and conn.flush
// (write.go) send it. A long reply (resp.Long) is encoded by who writes it.
//
// How a server parts from its clients is told in parting.go.
//
// What became of locks is noted on the way (noted.go), for who looks into it: by commands (lookout.go,
// verdict.go), or without a connection (ask.go). Changes of masters are seen by watched.go. Some
// requests are traced (tracing.go); figures.go, histogram.go, durations.go and keyspace.go count.
//
// Orders and denials are told to the audit log (audited.go, package audit): of clients where their reply
// is made, of the page where it gives them.
//
// What is asked about the server itself is carried out by conn.carryOutTools (tools.go); whether a
// command was slow (tuning.go), and whether anybody monitors (monitors.go), is one look at a number for each.
//
// What a client can cost is bounded by Limits, and what all take together in memory.go.
// Who is owed much is asked for no more
// commands until it has read (conn.keepPace). A client that does not read,
// goes away, sends garbage or makes us panic harms nobody else: no goroutine
// but its own waits for it: a leader that would have to hands the lead on.
//
// The goroutines:
//
//	goroutine  started by     owns                              ends when                             waited for by
//	leader     Server.admit,  a poller's events, and what a     it has waited for something, and      Server.Shutdown
//	           a leader that  reader owns of the connection     another leads; the last connection
//	           is to wait     that it carries on                has ended
//	reader     Server.admit,  the session, conn.input, the      the client or the server ends the     Server.Shutdown
//	           a leader or    closing of the connection         connection, or somebody cuts it off
//	           cut, for the
//	           end; conn.
//	           complete, for
//	           what is behind
//	           a blocked one
//	writer     conn.flush     conn.output while writing is set  nothing is left to write, or the      the reader, in close
//	                                                            connection is cut off
//	filler     Answer         a reply that takes long: a scan   the reply is in the line, or what     Server.Shutdown
//	                          that matches much, locks of       follows is asked
//	                          which other proxies are asked
//	(no name)  the leader     nothing                           at once: it has a thread of the       nobody
//	                          runtime's wait in Go's poller
//	sampler    the first      the rates in stats                Shutdown begins                       Server.Shutdown
//	           Server.Serve
//	waiter     Shutdown       nothing                           readers and sampler have ended        Server.Shutdown
//
// Serve runs on its caller's goroutine. The engine's goroutines run Answer,
// Deliver and Flush: they render, encode, and write to a socket that takes the bytes at
// once, and never wait for a client. So does the leader, of a request that it stays with (see
// Engine.PutStaying).
package proxy
