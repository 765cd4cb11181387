package quorum

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Bootstrap marks a new set of masters, so that proxies which are configured with
// the same terms let them vote. It refuses if one of them cannot be reached, is
// marked already, or is another of them under a second name. Before it no proxy
// grants anything on them.
//
// All masters get a provisional marker first. So a proxy that meets them half-way
// takes none for one that lost its marker, and what is left behind by a bootstrap
// that was cut off ends as a quarantine does.
func Bootstrap(ctx context.Context, cfg Config) error {
	if len(cfg.Masters) < 2 {
		return nil // alone it needs no marker
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(cfg.Masters))*cfg.ConnectTimeout+5*time.Second)
	defer cancel()
	var members []*member
	defer func() {
		for _, m := range members {
			m.conn.Close()
		}
	}()
	var problems []error
	names := make(map[string]string) // by run id
	for i := range cfg.Masters {
		m, err := reach(ctx, &cfg.Masters[i])
		switch {
		case err != nil:
		case names[m.who.runID] != "":
			err = errTwin(names[m.who.runID])
		default:
			names[m.who.runID] = m.name
			err = m.blank()
		}
		if m != nil {
			members = append(members, m)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("master %s: %w", cfg.Masters[i].Name, err))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	first := marker{Installation: newInstallation(), terms: cfg.agreement()}
	for _, provisional := range []bool{true, false} {
		for _, m := range members {
			if err := m.mark(first, provisional); err != nil {
				return fmt.Errorf("master %s: %w", m.name, err)
			}
		}
	}
	return nil
}

func newInstallation() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// member is a master as Bootstrap speaks to it.
type member struct {
	name string
	conn net.Conn
	gate gate
	who  identity

	marked [Databases]nonce // what stands in each database
	count  int              // how many databases it has
}

func reach(ctx context.Context, m *Master) (*member, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("it cannot be reached: %w", err)
	}
	secured, err := m.secure(conn)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("it cannot be used: %w", err)
	}
	user, password := m.credentials()
	who, err := identify(secured, user, password, identity{})
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("it cannot be used: %w", err)
	}
	return &member{
		name: m.Name,
		conn: secured,
		gate: gate{w: secured, r: bufio.NewReaderSize(secured, 4096), nils: true},
		who:  who,
	}, nil
}

// blank finds out how many databases there are, and that none is marked.
func (m *member) blank() error {
	for m.count < Databases {
		answers, err := m.gate.ask([]string{"SELECT", strconv.Itoa(m.count)}, []string{"GET", MarkerKey})
		switch {
		case err != nil:
			return err
		case answers[0].kind == FailureReply && m.count > 0 && strings.Contains(answers[0].str, "DB index"):
			return nil
		case answers[0].kind == FailureReply:
			return errors.New(answers[0].str)
		case answers[1].kind == FailureReply:
			return errors.New(answers[1].str)
		case answers[1].kind != NilReply:
			return alreadyMarked(m.count, answers[1].str)
		}
		m.count++
	}
	return nil
}

func alreadyMarked(db int, text string) error {
	was := "another program"
	if old, err := parseMarker(text); err == nil {
		was = fmt.Sprintf("installation %s (%v)", old.Installation, old.terms)
	}
	return fmt.Errorf("it is marked already, in database %d, by %s; if this set is really new and nobody uses the old one, delete the key %s there", db, was, MarkerKey)
}

// mark writes the marker of all databases, unless another was written meanwhile.
func (m *member) mark(first marker, provisional bool) error {
	for db := range m.count {
		mark := first
		mark.nonce, mark.Member, mark.RunID, mark.Durable = newNonce(provisional), m.name, m.who.runID, m.who.durable
		if provisional {
			mark.Why = "bootstrap has not finished"
		}
		answers, err := m.gate.ask(
			[]string{"SELECT", strconv.Itoa(db)},
			markScript.eval(MarkerKey, string(m.marked[db]), mark.String()))
		switch {
		case err != nil:
			return err
		case answers[1].kind == FailureReply:
			return errors.New(answers[1].str)
		case answers[1].str != mark.String():
			return errors.New("it was marked by somebody else at the same time; try again")
		}
		m.marked[db] = mark.nonce
	}
	return nil
}
