package doctor

import (
	"strconv"
	"time"

	"redlock-proxy/quorum/marker"
)

// Facts are all that is judged.
type Facts struct {
	Terms         marker.Terms // of the configuration
	MasterTimeout time.Duration
	ProbeInterval time.Duration
	Flushes       bool // clients may FLUSHALL and FLUSHDB
	Waits         bool // acquires do (acquire-wait)
	Masters       []Master
	Machine       Machine
}

// quorum is how many masters decide.
func (f *Facts) quorum() int { return len(f.Masters)/2 + 1 }

func (f *Facts) acquireTimeout() time.Duration {
	return time.Duration(f.Terms.AcquireTimeout) * time.Millisecond
}

func (f *Facts) maxTTL() time.Duration { return time.Duration(f.Terms.MaxTTL) * time.Millisecond }

// Master is what is known of one of them. What it did not tell is missing.
type Master struct {
	Name string

	// Away is why nothing else is known: it cannot be reached, lets nobody in, or answers
	// nothing that can be used.
	Away string

	Info     map[string]string // INFO
	Settings map[string]string // CONFIG GET, of those that are asked for
	Password bool              // it was given one

	// Calls are what it answered to those of Calls and Dry, by name: the text of an error, or "".
	// A name that is missing was not asked. What ACL DRYRUN forbids begins with NOPERM as well.
	Calls map[string]string

	RoundTrips []time.Duration
	Readings   []Reading // of its clock, the earliest first

	// Marks are what stands in the marker of each database that it has, "" if nothing does.
	Marks []string

	// Watchers is how many connections listen to what Sentinels tell each other.
	Watchers int64
}

// number is a figure of INFO or a setting; known is false if it is not told.
func number(texts map[string]string, name string) (n int64, known bool) {
	n, err := strconv.ParseInt(texts[name], 10, 64)
	return n, err == nil
}

// Reading is one look at a master's clock.
type Reading struct {
	Sent, Read time.Time // by ours: when it was asked for, and when it was there
	Theirs     time.Time
}

// Machine is the one on which it is looked, and a proxy is to run.
type Machine struct {
	FilesNeeded, FilesAllowed uint64 // open files; zero if it is not known
	MaxClients                int
	Backlog                   int // of connections that nobody has accepted yet; zero if it is not known
}
