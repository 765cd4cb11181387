// Package clock is the arithmetic of time: what a ttl becomes on masters whose clocks do not
// run as ours does, what each look at a master's clock shows of it, and what time of day a
// quorum of them agree on. A master's time, like ours, is a duration: since 1970 by the
// master's own clock, and since the machine started by ours. But for BootTime, which reads
// the machine's clock, and Pause, which waits, all of it is pure, and but for Watch and ToldTime
// nothing may be used by two goroutines at once.
//
//	validity.go   drift, and what a ttl becomes on its way to the masters and back
//	anchor.go     what a look at a master's clock shows beside all that were before it
//	watch.go      the same, for the lanes of all databases
//	span.go       when a master carried something out, and when that ends there
//	timeofday.go  what a quorum of the masters' clocks agree on
package clock
