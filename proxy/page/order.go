package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The orders there are.
const (
	FreeLock     = "free"   // a lock, whoever holds it
	DrainMaster  = "drain"  // ask a master for no votes
	ResumeMaster = "resume" // ask it again
	AdmitMaster  = "admit"  // end its quarantine before its time
)

// What there is besides in a demo, whose masters are there to be broken. Elsewhere these are no orders.
const (
	KillMaster    = "kill"           // at once, as by a crash
	StartBlank    = "start-blank"    // anew, and it has forgotten everything
	StartRecalled = "start-recalled" // anew, with what it held
	FreezeMaster  = "freeze"         // it answers nothing any more, and its connections stay
	ThawMaster    = "thaw"           // it goes on
	SetClock      = "set-clock"      // so many seconds ahead of the right time
)

// Order is what an operator wants done.
type Order struct {
	Order   string
	Master  string // of all but free
	Force   bool   // of drain: also if too few are left for a quorum
	Seconds int    // of set-clock

	// Of free: the lock, and the holder that was seen. If another one has it by now, the
	// order is not about that one, and answered with ErrNotNow. "" is whoever has it.
	DB     int
	Key    string
	Holder string

	Reason string // printable, of one line; never ""
}

// MaxReason bytes are enough for a reason.
const MaxReason = 500

// maxOrder bytes hold an order with a key of which each byte is escaped.
const maxOrder = 8*MaxKey + 4096

// parseOrder reads an order in JSON. What it does not know, or is told twice, it refuses: what
// was meant by that might have mattered.
func parseOrder(body []byte, demo bool) (o Order, err error) {
	if !utf8.Valid(body) {
		return o, errors.New("an order is JSON in UTF-8")
	}
	given, err := parseObject(body, func(name string) any {
		switch name {
		case "order":
			return &o.Order
		case "master":
			return &o.Master
		case "force":
			return &o.Force
		case "seconds":
			return &o.Seconds
		case "db":
			return &o.DB
		case "key":
			return &o.Key
		case "holder":
			return &o.Holder
		case "reason":
			return &o.Reason
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	return o, o.check(given, demo)
}

// parseObject reads an object in JSON whose fields have a place each, and returns which there were.
func parseObject(body []byte, place func(name string) any) (given map[string]bool, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("an order is an object in JSON")
	}
	given = make(map[string]bool)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("an order is an object in JSON: %w", err)
		}
		name, _ := t.(string)
		to := place(name)
		if to == nil {
			return nil, fmt.Errorf("an order has no field %q", name)
		}
		if given[name] {
			return nil, fmt.Errorf("field %s is there twice", name)
		}
		given[name] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		if string(raw) == "null" || json.Unmarshal(raw, to) != nil {
			return nil, fmt.Errorf("field %s is of another type", name)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("an order is an object in JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the order")
	}
	return given, nil
}

// mayHave are the fields that each order has besides reason.
var mayHave = map[string][]string{
	FreeLock:     {"db", "key", "holder"},
	DrainMaster:  {"master", "force"},
	ResumeMaster: {"master"},
	AdmitMaster:  {"master"},
}

var mayHaveInDemo = map[string][]string{
	KillMaster:    {"master"},
	StartBlank:    {"master"},
	StartRecalled: {"master"},
	FreezeMaster:  {"master"},
	ThawMaster:    {"master"},
	SetClock:      {"master", "seconds"},
}

// Demo tells that an order is one of those that there are in a demo alone.
func (o *Order) Demo() bool { return mayHaveInDemo[o.Order] != nil }

// maxAhead is how far ahead or behind a clock can be set.
const maxAhead = 24 * 60 * 60

// check is of an order whose fields have been given or not, and makes bytes of its key.
func (o *Order) check(given map[string]bool, demo bool) error {
	fields, known := mayHave[o.Order]
	if demo && !known {
		fields, known = mayHaveInDemo[o.Order]
	}
	if !known {
		return fmt.Errorf("an order is one of free, drain, resume and admit, not %q", o.Order)
	}
	if o.Seconds < -maxAhead || o.Seconds > maxAhead {
		return fmt.Errorf("a clock is set by %d seconds at most", maxAhead)
	}
	if extra := beside(given, append(fields, "order", "reason")); extra != "" {
		return fmt.Errorf("%s has no field %s", o.Order, extra)
	}
	for _, needed := range fields {
		if !given[needed] && needed != "force" && needed != "holder" {
			return fmt.Errorf("%s needs the field %s", o.Order, needed)
		}
	}
	if o.DB < 0 {
		return fmt.Errorf("there is no database %d", o.DB)
	}
	if err := checkReason(&o.Reason); err != nil {
		return err
	}
	key, err := unescaped(o.Key)
	if err != nil {
		return err
	}
	if len(key) > MaxKey {
		return fmt.Errorf("a key of more than %d bytes cannot be freed here", MaxKey)
	}
	o.Key = key
	return nil
}

// beside names a field that was given and is not among those.
func beside(given map[string]bool, fields []string) string {
	known := " " + strings.Join(fields, " ") + " "
	for name := range given {
		if !strings.Contains(known, " "+name+" ") {
			return name
		}
	}
	return ""
}

func checkReason(reason *string) error {
	*reason = strings.TrimSpace(*reason)
	switch {
	case *reason == "":
		return errors.New("an order needs a reason")
	case len(*reason) > MaxReason:
		return fmt.Errorf("a reason has %d bytes at most", MaxReason)
	case strings.ContainsFunc(*reason, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("a reason is one printable line")
	}
	return nil
}
