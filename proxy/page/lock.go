package page

// State is where a lock stands.
type State string

const (
	Held    State = "held"
	Free    State = "free"
	Unknown State = "unknown" // too few masters say
)

// Vote is one master's part in a lock, or in what became of it.
type Vote string

const (
	Granted     Vote = "granted"
	Refused     Vote = "refused"
	VoteUnknown Vote = "unknown"
	Withheld    Vote = "withheld"
	Pending     Vote = "pending"
)

// Lock is one lock, as far as it is known.
type Lock struct {
	DB       int    `json:"db"`
	Key      Text   `json:"key"`
	KeyBytes int    `json:"keyBytes,omitzero"` // the handler's, if Key is only the beginning
	Type     string `json:"type"`              // Redis's: string, hash ...
	State    State  `json:"state"`

	Holder string  `json:"holder,omitempty"` // a hash of its token; "" if it is not known
	Client *Client `json:"client,omitempty"` // nil: it is held, by whom is not known here
	Proxy  string  `json:"proxy,omitempty"`  // the ID of the one that granted it

	Since Time   `json:"since"`
	Until Time   `json:"until"`           // null: it has no ttl, or none is known
	Left  Millis `json:"leftMs,omitzero"` // of TTL, if it has one
	TTL   Millis `json:"ttlMs,omitzero"`

	Votes      []Vote `json:"votes"`         // in the order of Overview.Masters
	Has        []Text `json:"has,omitempty"` // what each master has of it, in words, in their order
	Extensions int    `json:"extensions"`
	Refusals   uint64 `json:"refusals"`
	Waiters    int    `json:"waiters"`

	// Of a lock that was asked for alone: what became of it, the oldest first, and who is refused
	// it and asks again, the latest first.
	Timeline []Moment `json:"timeline,omitempty"`
	Wanted   []Wanted `json:"wanted,omitempty"`
}

// Wanted is a client that is refused a lock.
type Wanted struct {
	Client Text   `json:"client"`
	Times  uint64 `json:"times"`            // it was refused
	Every  Millis `json:"everyMs,omitzero"` // it asks so often, on average; 0: it has asked once
	Last   Millis `json:"lastMs"`           // since it was refused last
}

// Client is who holds a lock, or held it last.
type Client struct {
	ID      int64 `json:"id"`
	Address Text  `json:"address"`
	Name    Text  `json:"name,omitempty"`
	Library Text  `json:"library,omitempty"`
	User    Text  `json:"user,omitempty"`
}

// What happened to a lock.
type What string

const (
	WasAsked    What = "asked"
	WasGranted  What = "granted"
	WasExtended What = "extended"
	WasRefused  What = "refused"
	WasReleased What = "released"
	WasUndone   What = "undone"
	WasExpired  What = "expired"
	WasForced   What = "forced" // freed by an order
	WasDeleted  What = "deleted"
	WasWritten  What = "written"
)

// Moment is one thing that happened to a lock, or some alike behind each other.
type Moment struct {
	At     Time   `json:"at"`
	What   What   `json:"what"`
	By     Text   `json:"by,omitempty"`
	Took   Micros `json:"tookUs,omitzero"`
	Votes  []Vote `json:"votes,omitempty"` // in the order of Overview.Masters
	Reason Text   `json:"reason,omitempty"`
	Count  int    `json:"count,omitzero"` // if it is not one
}

// Locks is a page of them.
type Locks struct {
	Locks []Lock `json:"locks"`
	Total int    `json:"total"`          // how many there are of the pattern, -1 if that is not known
	Next  string `json:"next,omitempty"` // Query.After of the page that follows; "" on the last
	Note  string `json:"note,omitempty"` // what is missing here, if something is
}

// Event is something that happened to the proxy.
type Event struct {
	Number  uint64 `json:"number"`
	At      Time   `json:"at"`
	Kind    string `json:"kind"`    // master, quorum, lock, proxy, order
	Trouble bool   `json:"trouble"` // whether it is bad news
	Text    Text   `json:"text"`
	Master  string `json:"master,omitempty"`
	Lock    *Place `json:"lock,omitempty"`
}

// Place is where a lock is.
type Place struct {
	DB  int  `json:"db"`
	Key Text `json:"key"`
}

// MaxKey bytes of a key are shown. What is longer is no page's to show, nor to free.
const MaxKey = 4096

// cut leaves of a key what is shown, and tells how long it is if that is not all.
func cut(key *Text, bytes *int) {
	if len(*key) > MaxKey {
		*key, *bytes = (*key)[:MaxKey], len(*key)
	}
}
