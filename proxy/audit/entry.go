package audit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Event is what a line is about, a word.
type Event string

const (
	Start   Event = "start"
	Stop    Event = "stop"
	Reload  Event = "reload" // by SIGHUP
	Order   Event = "order"
	Denial  Event = "denial"
	omitted Event = "omitted" // lines that were like others
	gap     Event = "lost"    // lines for which there was no room
)

// Door is where somebody came in.
type Door string

const (
	Client  Door = "client"
	Admin   Door = "admin"
	Process Door = "process" // a signal
)

// Outcome is what an order has come to.
type Outcome string

const (
	Done    Outcome = "done"
	Refused Outcome = "refused"
	Unknown Outcome = "unknown" // it may have been carried out, on some masters at least
)

// Entry is what a line tells. Texts that are empty are left out of it.
type Entry struct {
	Event Event
	Door  Door

	From string // address and port
	User string
	Name string // that the client has given itself
	ID   int64  // of its connection, 0 of none

	Command string // LOCK DRAIN
	Args    string // of it, without what could be a token, a password or a value, and what is a field here
	DB      int
	HasDB   bool // it is about a database, DB
	Key     string
	Channel string
	Master  string
	Reason  string // that was given for an order

	Why     string // of a denial, one of a few words: Answer is what was said
	Outcome Outcome
	Answer  string
	Votes   map[string]string // by master

	// Source is the address that repetitions are counted for, without a port.
	Source string
	// Open says that it is one that anybody could have written without end.
	Open bool
}

// line is an Entry as it is written. Its fields are in the order in which one reads them.
type line struct {
	Time    string            `json:"time"`
	Event   Event             `json:"event"`
	Proxy   string            `json:"proxy"`
	RunID   string            `json:"run_id"`
	Door    Door              `json:"door,omitempty"`
	From    string            `json:"from,omitempty"`
	User    string            `json:"user,omitempty"`
	Name    string            `json:"name,omitempty"`
	ID      int64             `json:"id,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    string            `json:"args,omitempty"`
	DB      *int              `json:"db,omitempty"`
	Key     string            `json:"key,omitempty"`
	Channel string            `json:"channel,omitempty"`
	Master  string            `json:"master,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Why     string            `json:"why,omitempty"`
	Outcome Outcome           `json:"outcome,omitempty"`
	Answer  string            `json:"answer,omitempty"`
	Votes   map[string]string `json:"votes,omitempty"`
	Omitted uint64            `json:"omitted,omitempty"`
	Lost    uint64            `json:"lost,omitempty"`
}

// timeLayout is RFC 3339 with microseconds, all of them: so that lines sort as text.
const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// encode is a line, with its end.
func (l *Log) encode(e *Entry, now time.Time, left, missed uint64) []byte {
	out := line{
		Time: now.UTC().Format(timeLayout), Event: e.Event, Proxy: l.cfg.Name, RunID: l.runID,
		Door: e.Door, From: text(e.From), User: text(e.User), Name: text(e.Name), ID: e.ID,
		Command: text(e.Command), Args: text(e.Args), Key: text(e.Key), Channel: text(e.Channel), Master: text(e.Master), Reason: text(e.Reason),
		Why: text(e.Why), Outcome: e.Outcome, Answer: text(e.Answer), Votes: e.Votes, Omitted: left, Lost: missed,
	}
	if e.HasDB {
		out.DB = &e.DB
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // it is no page
	if err := encoder.Encode(&out); err != nil {
		panic(err) // of our own type there is nothing that cannot be encoded
	}
	return b.Bytes()
}

// maxText is how many bytes of a text are told: those of the longest reason, and of any key that
// people gave a name.
const maxText = 1024

// text is what somebody else chose, so that all of it can be seen and nothing of it acts: where there
// is anything in it that cannot be printed, or a backslash, all that is escaped as Go does.
func text(s string) string {
	more := ""
	if len(s) > maxText {
		more = "... (" + strconv.Itoa(len(s)-maxText) + " more bytes)"
		s = s[:maxText]
	}
	plain := func(r rune) bool { return unicode.IsPrint(r) && r != '\\' && r != utf8.RuneError }
	if strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		s = strings.ReplaceAll(strconv.Quote(s), `\"`, `"`)
		s = s[1 : len(s)-1]
	}
	return s + more
}
