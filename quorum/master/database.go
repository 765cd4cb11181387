package master

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// NoDatabase says that a master lacks a database. It has no vote there. Those who come
// while it is connected are told that there is none: of what is held there, fewer masters
// could remember than a quorum is counted of.
type NoDatabase int

func (db NoDatabase) Error() string {
	return LacksDatabase + strconv.Itoa(int(db)) + ": " + EvenDatabases
}

// What a NoDatabase says, and what cures it.
const (
	LacksDatabase = "it has no database "
	EvenDatabases = "start all masters with equally many databases"
)

// selectDatabase has the connection use a database.
func selectDatabase(conn net.Conn, db int) error {
	g := NewGate(conn)
	answers, err := g.Ask([]string{"SELECT", strconv.Itoa(db)})
	if err == nil && answers[0].Kind == quorum.FailureReply {
		if err = errors.New(answers[0].Str); strings.Contains(answers[0].Str, "DB index") {
			err = NoDatabase(db)
		}
	}
	return err
}
