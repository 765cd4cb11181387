package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// standing is how a proxy and its masters stand, by its own word, as status prints it.
type standing struct {
	Asked   string           `json:"asked"` // where it was told
	Grants  bool             `json:"grants"`
	Text    string           `json:"text"` // why, or why not, and whether it may be restarted
	Masters []masterStanding `json:"masters"`
	Proxies []proxyStanding  `json:"proxies"` // this one, and the others in front of these masters
}

type masterStanding struct {
	Name        string `json:"name"`
	State       string `json:"state"`
	Since       string `json:"since"` // with how long ago that is
	Why         string `json:"why"`
	Left        string `json:"left"` // of a quarantine
	CatchUp     string `json:"catchUp"`
	RoundTripUs int64  `json:"roundTripUs"`
	ClockOffset string `json:"clockOffset"`
	Queue       int64  `json:"queue"`
	Debts       int64  `json:"debts"`
	Version     string `json:"version"`
	Trouble     string `json:"trouble"` // the latest
}

type proxyStanding struct {
	ThisOne bool   `json:"thisOne"`
	ID      string `json:"id"`
	Address string `json:"address"`
	Version string `json:"version"`
	Since   string `json:"since"`
	Clients int64  `json:"clients"`
}

// standingByClients asks where clients do. What is refused there is an error.
func standingByClients(e endpoint) (*standing, error) {
	requests := [][]string{{"INFO", "quorum"}, {"LOCK", "STATUS"}, {"LOCK", "MASTERS"}, {"LOCK", "PROXIES"}}
	said, err := e.converse(askTimeout, requests...)
	if err != nil {
		return nil, err
	}
	for _, v := range said {
		if v.kind == '-' {
			return nil, fmt.Errorf("%s", v.text)
		}
	}
	if len(said) < len(requests) {
		return nil, errors.New("it has hung up")
	}
	said = said[len(said)-len(requests):] // without AUTH's
	masters, proxies := said[2].elems, said[3].elems
	if len(masters) == 0 {
		return nil, errNotRESP
	}
	s := &standing{Asked: e.address, Grants: strings.Contains(said[0].text, "\nready:1\r\n"), Text: said[1].text, Masters: []masterStanding{}, Proxies: []proxyStanding{}}
	for _, v := range masters[1:] { // behind the summary
		s.Masters = append(s.Masters, masterOfFields(v.fields()))
	}
	for _, v := range proxies {
		f := v.fields()
		s.Proxies = append(s.Proxies, proxyStanding{
			ThisOne: f["this-one"].number() == 1, ID: f["id"].text, Address: f["address"].text,
			Version: f["version"].text, Since: withAge(f["since"].text, time.Now()), Clients: f["clients"].number(),
		})
	}
	return s, nil
}

func masterOfFields(f map[string]value) masterStanding {
	m := masterStanding{
		Name: f["name"].text, State: f["state"].text, Since: f["since"].text, Why: f["why"].text, Left: f["left"].text, CatchUp: f["catch-up"].text,
		RoundTripUs: f["round-trip-us"].number(), ClockOffset: f["clock-offset"].text,
		Queue: f["queue"].number(), Debts: f["debts"].number(), Version: f["version"].text,
	}
	if troubles := f["troubles"].elems; len(troubles) > 0 {
		m.Trouble = troubles[0].text
	}
	return m
}

// withAge adds to a time how long ago it is, as that of a master has it.
func withAge(since string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, since)
	if err != nil {
		return since
	}
	return sinceText(t, now)
}

func sinceText(t, now time.Time) string {
	return t.UTC().Format(time.RFC3339) + ", " + roundSeconds(now.Sub(t)) + " ago"
}

// roundSeconds is a duration without what changes while one looks.
func roundSeconds(d time.Duration) string { return max(d, 0).Round(time.Second).String() }
