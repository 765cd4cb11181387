package master

import (
	"net"
	"strconv"
)

// NoDatabase is the error that a master lacks the database of this number. It has no vote there. Those who come
// while it is connected are told that there is none: of what is held there, fewer masters
// could remember than a quorum is counted of.
type NoDatabase int

func (db NoDatabase) Error() string {
	return LacksDatabase + strconv.Itoa(int(db)) + ": " + EvenDatabases
}

// What the error of a NoDatabase begins with, and ends with: what cures it.
const (
	LacksDatabase = "it has no database "
	EvenDatabases = "start all masters with equally many databases"
)

// selectDatabase has the connection use a database.
func selectDatabase(conn net.Conn, db int) error {
	g := NewGate(conn)
	answers, err := g.Ask([]string{"SELECT", strconv.Itoa(db)})
	switch {
	case err != nil:
		return err
	case answers[0].NoSuchDatabase():
		return NoDatabase(db)
	}
	return answers[0].Err()
}
