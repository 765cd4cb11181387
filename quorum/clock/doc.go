// Package clock is the arithmetic of time: what a ttl becomes on masters whose clocks do not
// run as ours does, what each look at a master's clock shows of it, and what time of day a
// quorum of them agree on. A master's time, like ours, is a duration: since 1970 by the
// master's own clock, and since the machine started by ours. But for BootTime, which reads
// the machine's clock, all of it is pure, and but for Watch and ToldTime nothing may be used
// by two goroutines at once.
package clock
