package engine

import "sync"

// claims are the run ids of the servers that the lanes of a database are connected to, "" of
// one that has no link: one server has one vote.
type claims struct {
	mu   sync.Mutex // guards list
	list []string
}

// claim notes which server a lane has reached. If another lane is connected to
// the same one, it returns that master's name: one server has one vote.
func (db *database) claim(i int, runID string) (twin string) {
	db.claims.mu.Lock()
	defer db.claims.mu.Unlock()
	for j, id := range db.claims.list {
		if j != i && id == runID {
			return db.Masters[j].Name
		}
	}
	db.claims.list[i] = runID
	return ""
}

// claimed is the run id of the server that lane i is connected to, "" if none.
func (db *database) claimed(i int) string {
	db.claims.mu.Lock()
	defer db.claims.mu.Unlock()
	return db.claims.list[i]
}

func (db *database) unclaim(i int) {
	db.claims.mu.Lock()
	defer db.claims.mu.Unlock()
	db.claims.list[i] = ""
}
