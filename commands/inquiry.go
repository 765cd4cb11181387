package commands

import (
	"encoding/json"
	"math"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// What proxies ask each other: who holds these keys, and who is there.

const (
	askHolders = "holders"
	askProxies = "proxies"

	// maxInquired is how many keys one question is about.
	maxInquired = 64
	// maxInquiry is how many bytes it comes to.
	maxInquiry = 48 << 10
)

type question struct {
	Ask  string     `json:"ask"`
	Keys []askedKey `json:"keys,omitempty"`
}

type askedKey struct {
	DB    int             `json:"db"`
	Key   []byte          `json:"key"`
	Signs []registry.Sign `json:"signs"` // of what is there
	Left  int64           `json:"left"`  // of its ttl, in milliseconds; -1 is none
}

// colleagueAnswer is that of one proxy, which says nothing where it knows nothing.
type colleagueAnswer struct {
	Proxy   Proxy          `json:"proxy"`
	Holders map[int]holder `json:"holders,omitempty"` // by their keys' places in the question
}

// holder is what a proxy knows of who holds a key. Its times are counted from when it
// answers: proxies' clocks differ.
type holder struct {
	By         registry.Origin `json:"by"`
	Proxy      string          `json:"-"`     // whose client it is
	ForMS      int64           `json:"forMs"` // it holds it
	LeftMS     int64           `json:"leftMs"`
	EndKnown   bool            `json:"endKnown"`
	Written    bool            `json:"written"` // by a script
	Extensions int             `json:"extensions"`
	Refusals   int             `json:"refusals"`
	Granted    []string        `json:"granted,omitempty"` // masters that had granted it by then
}

// Asked answers another proxy's question, "" if there is nothing to say. It waits for nothing.
func (d *Dialect) Asked(text string) string {
	var q question
	if json.Unmarshal([]byte(text), &q) != nil || len(q.Keys) > maxInquired {
		return ""
	}
	a := colleagueAnswer{Proxy: d.lookout.Self()}
	switch q.Ask {
	case askProxies:
	case askHolders:
		for i, k := range q.Keys {
			if h, ok := d.holder(k.DB, string(k.Key), k.Signs, millis(k.Left)); ok {
				if a.Holders == nil {
					a.Holders = make(map[int]holder)
				}
				a.Holders[i] = h
			}
		}
		if len(a.Holders) == 0 {
			return ""
		}
	default:
		return ""
	}
	b, err := json.Marshal(a)
	if err != nil {
		return ""
	}
	return string(b)
}

// holder is who holds a key whose value bears these signs, if this proxy knows.
func (d *Dialect) holder(db int, key string, signs []registry.Sign, left time.Duration) (holder, bool) {
	seen := d.lookout.Seen()
	if db < 0 || db >= quorum.Databases {
		return holder{}, false
	}
	now := d.lookout.Clock()
	h, ok := seen.Holder(db, key, signs, left, now)
	if !ok {
		return holder{}, false
	}
	out := holder{
		By: h.By, Proxy: d.lookout.Self().ID, ForMS: (now - h.Since).Milliseconds(), EndKnown: !h.Endless && !h.EndUnknown,
		Written: h.What == registry.Written, Extensions: h.Extensions, Refusals: h.Refusals, Granted: grantedBy(h.Votes, d.lookout.Masters()),
	}
	if out.EndKnown {
		out.LeftMS = (h.Until - now).Milliseconds()
	}
	return out, true
}

// fitting is how many of the keys a question has room for.
func fitting(keys []askedKey) int {
	room := maxInquiry
	for i := range keys {
		if room -= 2*len(keys[i].Key) + 24*len(keys[i].Signs) + 64; i == maxInquired || i > 0 && room < 0 {
			return i
		}
	}
	return len(keys)
}

// inquire asks the other proxies for the holders of keys, all of which fit, and puts them into
// their places of the list.
func (d *Dialect) inquire(keys []askedKey, into []*holder) {
	if len(keys) == 0 {
		return
	}
	claims := make([]int, len(keys))
	for _, a := range d.askOthers(question{Ask: askHolders, Keys: keys}) {
		for i, h := range a.Holders {
			if i >= 0 && i < len(keys) {
				h.Proxy = a.Proxy.ID
				into[i] = &h
				claims[i]++
			}
		}
	}
	for i, n := range claims {
		if n > 1 { // they cannot all be right
			into[i] = nil
		}
	}
}

func millis(n int64) time.Duration {
	if n < 0 || n > math.MaxInt64/int64(time.Millisecond) {
		return registry.NoTTL
	}
	return time.Duration(n) * time.Millisecond
}

// askOthers gives what other proxies have answered that can be read.
func (d *Dialect) askOthers(q question) (list []colleagueAnswer) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil
	}
	for _, reply := range d.lookout.Inquire(string(text)) {
		var a colleagueAnswer
		if json.Unmarshal([]byte(reply), &a) == nil {
			list = append(list, a)
		}
	}
	return list
}
