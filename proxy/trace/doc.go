// Package trace sends what package proxy tells of some requests to a collector of OpenTelemetry:
// a span for a client's command, below it one for each attempt to have it decided, and below that
// one for each master. It alone knows the SDK, and does its work on a goroutine of its own, which
// nobody waits for:
//
//	goroutine  started by  owns                      ends when                               waited for by
//	sender     New         the SDK's spans, and      Close has begun and what is left has    Close
//	                       what is sent              been sent, or its time is up
//
// What the collector does not take in time is lost, and counted.
package trace
