package commands

import (
	_ "embed" // docs.json
	"encoding/json"
	"sync"
)

//go:embed docs.json
var docsFile []byte

// doc is the prose about one command: its entry in docs.json, under the name of the row.
type doc struct {
	Summary    string
	Synopsis   string // what follows the name, in HELP; "" if nothing does
	Since      string // the version of Redis that had it first
	Group      string
	Complexity string // "" if there is nothing to say
	KeyNotes   string `json:"key_notes"` // of COMMAND INFO, about the keys; mostly ""
}

// docs are the entries of docs.json by the names of the rows. The file is read when the first
// client asks for prose, which most never do.
var docs = sync.OnceValue(func() map[string]*doc {
	var entries map[string]*doc
	if err := json.Unmarshal(docsFile, &entries); err != nil {
		panic("commands: docs.json: " + err.Error())
	}
	return entries
})

// doc is never nil: a test holds the rows against the file.
func (c *Command) doc() *doc { return docs()[c.Name] }
