// Package page is the page by which whoever runs the proxy looks into it: whether it grants
// locks, how the masters stand, what is held and by whom, what is fought for, and what became
// of one lock. It is an http.Handler for one file, for the JSON that README.md tells of, and for
// a stream of it. It listens nowhere and lets nobody in or keeps him out: its caller does.
//
// It knows neither the engine nor the registry: what is shown, and what becomes of an order,
// is its Source's.
//
// Names of keys, clients and their libraries are what strangers chose. They leave here as Text,
// in which nothing is invisible, and the page shows them as text alone. No token comes here:
// a holder is told by a hash of it.
//
// What a viewer can cost is bounded: an overview is encoded at most once a second whoever
// looks (frame.go), there are so many streams and questions to masters at a time (stream.go,
// ask.go), and who does not read is cut off.
//
// It has no goroutine of its own: a stream lives on that of its request, and ends with it, or
// with Handler.Close.
package page
