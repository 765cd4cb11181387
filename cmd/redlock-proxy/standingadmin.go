package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"redlock-proxy/conf"
)

// overview is what is read of /api/overview.
type overview struct {
	Error   string
	Verdict struct {
		Grants  bool
		Text    string
		Restart struct{ Text string }
	}
	Proxy   proxyOverview
	Proxies []proxyOverview
	Masters []struct {
		Name, State, Why, Version string
		Since                     *time.Time
		LeftMs                    float64
		RoundTripUs               float64
		ClockKnown                bool
		ClockOffsetMs             float64
		Queue, Debts              int64
		CatchUp                   *struct{ Copied, Sources, Needed int64 }
		Troubles                  []struct {
			At   *time.Time
			Text string
		}
	}
}

type proxyOverview struct {
	ID, Address, Version string
	Since                *time.Time
	Clients              int64
}

// standingByAdmin asks the admin listener.
func standingByAdmin(cfg *conf.Config) (*standing, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, cfg.Admin.Network, cfg.Admin.Address)
		},
	}
	scheme := "http"
	if cfg.AdminTLS == "yes" {
		scheme, transport.TLSClientConfig = "https", selfTLS(cfg)
	}
	// It is called localhost, which every admin listener is, whatever leads there.
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://localhost/api/overview", nil)
	if err != nil {
		return nil, err
	}
	if cfg.Password != "" {
		request.SetBasicAuth("default", string(cfg.Password))
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	var o overview
	err = json.Unmarshal(body, &o)
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s", strings.TrimSpace(response.Status+" "+o.Error))
	case err != nil:
		return nil, err
	}
	return standingOf(cfg.Admin.Address, &o, time.Now()), nil
}

func standingOf(asked string, o *overview, now time.Time) *standing {
	since := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return sinceText(*t, now)
	}
	s := &standing{Asked: asked, Grants: o.Verdict.Grants, Text: o.Verdict.Text + "; " + o.Verdict.Restart.Text, Masters: []masterStanding{}}
	for i := range o.Masters {
		m := &o.Masters[i]
		row := masterStanding{
			Name: m.Name, State: m.State, Since: since(m.Since), Why: m.Why, RoundTripUs: int64(m.RoundTripUs),
			Queue: m.Queue, Debts: m.Debts, Version: m.Version,
		}
		if m.LeftMs > 0 {
			row.Left = roundSeconds(time.Duration(m.LeftMs * float64(time.Millisecond)))
		}
		if m.ClockKnown {
			row.ClockOffset = fmt.Sprintf("%+.1fms", math.Round(m.ClockOffsetMs*10)/10+0) // so that nothing is shown as -0.0
		}
		if c := m.CatchUp; c != nil {
			row.CatchUp = fmt.Sprintf("copied=%d sources=%d/%d", c.Copied, c.Sources, c.Needed)
		}
		if len(m.Troubles) > 0 && m.Troubles[0].At != nil {
			row.Trouble = m.Troubles[0].At.UTC().Format(time.RFC3339) + " " + m.Troubles[0].Text
		}
		s.Masters = append(s.Masters, row)
	}
	for i, p := range append([]proxyOverview{o.Proxy}, o.Proxies...) {
		s.Proxies = append(s.Proxies, proxyStanding{i == 0, p.ID, p.Address, p.Version, since(p.Since), p.Clients})
	}
	return s
}
