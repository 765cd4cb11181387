package quota

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits are what a user may take at most. What is 0 has no bound.
type Limits struct {
	TTL   time.Duration // of a lock: max-ttl
	Locks int           // held at once: max-locks
	Rate  int           // commands a second: max-rate
}

// The words, up to their values.
const (
	wordTTL   = "max-ttl="
	wordLocks = "max-locks="
	wordRate  = "max-rate="
)

// The bounds of their values.
const (
	shortestTTL = time.Millisecond
	longestTTL  = 100 * 365 * 24 * time.Hour
	mostLocks   = 10_000
	mostRate    = 1_000_000
)

// IsWord tells that a word is about a limit.
func IsWord(word string) bool { return strings.HasPrefix(word, "max-") }

// Set carries out a word that is about a limit, in lower case: max-ttl=30s, max-locks=100, max-rate=1000,
// each with 0 for no bound.
func (l *Limits) Set(word string) error {
	switch name, value, _ := strings.Cut(word, "="); name + "=" {
	case wordTTL:
		ttl, err := time.ParseDuration(value)
		if err != nil || ttl != 0 && (ttl < shortestTTL || ttl > longestTTL) {
			return fmt.Errorf("max-ttl takes a duration such as 30s, from %s, or 0 for none", shortestTTL)
		}
		l.TTL = ttl
	case wordLocks:
		return setNumber(&l.Locks, name, value, mostLocks)
	case wordRate:
		return setNumber(&l.Rate, name, value, mostRate)
	default:
		return errors.New("there are max-ttl=DURATION, max-locks=NUMBER and max-rate=NUMBER")
	}
	return nil
}

func setNumber(to *int, name, value string, most int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > most {
		return fmt.Errorf("%s takes a number from 1 to %d, or 0 for none", name, most)
	}
	*to = n
	return nil
}

// Words are the limits in the words that Set takes; none of what has no bound.
func (l Limits) Words() (words []string) {
	if l.TTL != 0 {
		words = append(words, wordTTL+duration(l.TTL))
	}
	if l.Locks != 0 {
		words = append(words, wordLocks+strconv.Itoa(l.Locks))
	}
	if l.Rate != 0 {
		words = append(words, wordRate+strconv.Itoa(l.Rate))
	}
	return words
}

// duration is 30s and 5m, where a Duration's own words are 5m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
