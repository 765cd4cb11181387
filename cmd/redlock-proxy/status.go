package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode"

	"redlock-proxy/conf"
	"redlock-proxy/quorum/clock"
)

// status is the subcommand: how the proxy of this configuration stands, once or again and again.
func status(cfg *conf.Config, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	for {
		code := statusOnce(cfg, stdout, stderr)
		if cfg.Watch {
			clock.Pause(ctx, time.Second)
		}
		if !cfg.Watch || ctx.Err() != nil {
			return code
		}
	}
}

func statusOnce(cfg *conf.Config, stdout, stderr io.Writer) int {
	s, err := stands(cfg)
	var text strings.Builder
	if cfg.Watch && !cfg.JSON && isTerminal(stdout) {
		text.WriteString("\x1b[H\x1b[2J") // to the top, and blank
	}
	if err != nil {
		tell(stdout, stderr, text.String(), exitFailed)
		fmt.Fprintln(stderr, "redlock-proxy: "+printable(err.Error()))
		return exitFailed
	}
	if cfg.JSON {
		printJSON(&text, s)
	} else {
		s.print(&text)
	}
	code := exitOK
	if !s.Grants {
		code = exitFailed
	}
	return tell(stdout, stderr, text.String(), code)
}

// stands asks where clients do, and where that does not say, the admin listener.
func stands(cfg *conf.Config) (*standing, error) {
	e := firstEndpoint(cfg)
	s, err := standingByClients(e)
	if err == nil {
		return s, nil
	}
	err = fmt.Errorf("%s does not say how it stands: %w", e.address, err)
	if cfg.Admin.Network == "" {
		return nil, err
	}
	s, other := standingByAdmin(cfg)
	if other != nil {
		return nil, fmt.Errorf("%w; nor does the admin listener %s: %w", err, cfg.Admin.Address, other)
	}
	return s, nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// print writes the verdict and two tables.
func (s *standing) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", printable(s.Text))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		texts := make([]string, len(cells))
		for i, c := range cells {
			if texts[i] = printable(fmt.Sprint(c)); texts[i] == "" {
				texts[i] = "-"
			}
		}
		fmt.Fprintln(table, strings.Join(texts, "\t"))
	}
	row("MASTER", "STATE", "SINCE", "ROUND TRIP", "CLOCK", "QUEUE", "DEBTS", "VERSION", "WHY")
	for _, m := range s.Masters {
		why := m.Why
		if m.Left != "" {
			why += ", " + m.Left + " left"
		}
		if m.CatchUp != "" {
			why += ", " + m.CatchUp
		}
		row(m.Name, m.State, ago(m.Since), time.Duration(m.RoundTripUs)*time.Microsecond, m.ClockOffset, m.Queue, m.Debts, m.Version, why)
	}
	table.Flush()
	fmt.Fprintln(w)
	row("PROXY", "ID", "SINCE", "CLIENTS", "VERSION")
	for _, p := range s.Proxies {
		address := p.Address
		if p.ThisOne {
			address += " (this one)"
		}
		row(address, p.ID, ago(p.Since), p.Clients, p.Version)
	}
	table.Flush()
}

// ago is the part of a time that says how long ago it is.
func ago(since string) string {
	if _, text, ok := strings.Cut(since, ", "); ok {
		return text
	}
	return since
}

// printable is a text that does nothing to a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
