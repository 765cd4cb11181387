package lease

import (
	"fmt"
	"slices"
)

// Update is one turn at something that a lock guards: a record was read, and
// another put in its place. Every record is written once only, so its number
// says who wrote it.
type Update struct {
	Client       int
	Key, Token   string
	Found, Wrote uint64  // numbers of the records
	Begin, End   Instant // the read began, the write had returned
	Until        Instant // the end of the client's validity, as it knew it
}

// inTime tells whether the client still held the lock when it had written. One
// that was late has only itself to blame, or the machine, and what it wrote is
// held against nobody: its record is another than the one it found, so that
// whoever reads it does not read what an earlier client read.
func (u Update) inTime() bool { return u.End <= u.Until }

// Clash is two updates in time that began with the same record: the one's was
// lost under the other's.
type Clash struct{ First, Second Update }

func (c Clash) String() string {
	return fmt.Sprintf("%s: %s (client %d) and %s (client %d) both updated record %x",
		c.Second.Key, c.First.Token, c.First.Client, c.Second.Token, c.Second.Client, c.Second.Found)
}

// Clashes finds the updates that were lost. Each is a proof of two holders: if
// both found the same record then each read before the other wrote.
func Clashes(updates []Update) []Clash {
	type record struct {
		key    string
		number uint64
	}
	seen := make(map[record]Update)
	var clashes []Clash
	for _, u := range updates {
		if !u.inTime() {
			continue
		}
		r := record{u.Key, u.Found}
		if first, twice := seen[r]; twice {
			clashes = append(clashes, Clash{first, u})
			continue
		}
		seen[r] = u
	}
	return clashes
}

// Late counts the updates that were not in time.
func Late(updates []Update) int {
	return len(updates) - len(slices.DeleteFunc(slices.Clone(updates), func(u Update) bool { return !u.inTime() }))
}
