// Package admin is the door for those who watch a proxy: HTTP/1.1, with its state for health
// checks, its figures for Prometheus, and room for more that is mounted.
//
// The life of one request: connections.Accept lets it in, guard.ServeHTTP asks by which name
// the proxy was called, whose page asks, and for the password, then the handler that is
// mounted there answers. What a handler writes is written within writeTimeout, or the
// connection is cut off.
//
// /livez and /readyz are told to everybody, as what asks for them (a load balancer, a kubelet)
// mostly knows no password. They name no master: how many there are in which state, and no
// more. Who knows the password, or where none is asked for, is told the rest of the cause.
//
// The goroutines:
//
//	goroutine   started by      owns                    ends when                            waited for by
//	connection  http.Server,    a connection            it is idle for long, makes room      Server.Shutdown,
//	            one a client                            for another, or the server ends      for a second
//
// Serve runs on its caller's goroutine. Handlers run on their connection's: those that do not
// heed the end of their request's context outlive Shutdown.
package admin
