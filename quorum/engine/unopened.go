package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// A master that has forgotten is told so in all databases at once, and catches up in those
// that are open. Others would stay as they are, each with one master less that remembers:
//
//	1: A wins k in database 5, on masters 1 and 2; from then on clients use database 0 alone
//	2: master 1 comes back blank, and has soon caught up in database 0; then the same becomes
//	   of 2, and then of 3
//	3: B asks for something in database 5, where nobody remembers anything: it is given
//	   nothing for max-ttl, though no more than one master was ever lost
//
// So database 0 has itself told by each master, where it looks at it anyway, how it stands in
// all databases, and the engine opens those in which one does not remember, whether a client asks for
// them or not. It opens a few at a time, and closes each again when all masters that are there
// vote in it. One in which that takes long makes room for others, and stays open: what a
// quarantine has lasted is known only to those who look.
//
// Several proxies do so side by side, each beginning with another database: what one has done,
// the others are told.

const (
	// tendedAtOnce is how many databases are opened at a time.
	tendedAtOnce = 4
	// healFor and layFor are how many probe intervals one takes the place of another at most:
	// while a master does not vote in it, and while one may hold what nobody does.
	healFor = 2
	layFor  = 8
)

// How a master stands in a database, as elsewhereScript tells it. What it tells besides is not
// for those to mend who do not use the database: a marker of another installation, or what is
// none.
const (
	standsVoting    = 'v'
	standsHaunted   = 'g' // it votes, and may hold what nobody does
	standsUnmarked  = '-'
	standsWaiting   = 'q'
	standsRestarted = 'o' // the marker is an earlier process's, or another database's
)

// forgets tells that a master does not remember.
func forgets(letter byte) bool {
	return letter == standsUnmarked || letter == standsWaiting || letter == standsRestarted
}

// elsewhereScript tells of each database how the master stands in it, by a letter each. ARGV[1]
// and ARGV[2] are in the markers of this process, and of our installation.
var elsewhereScript = master.NewScript(`local r=''
for d=0,15 do
local s=redis.pcall('SELECT',d)
if type(s)=='table' and s.err then break end
local m=redis.pcall('GET',KEYS[1])
local function has(t) return string.find(m,t,1,true) end
if not m then r=r..'-'
elseif type(m)~='string' or not has(ARGV[2]) then r=r..'?'
elseif not has(ARGV[1]) or has('"db":') and not has('"db":'..d..',') then r=r..'o'
elseif string.sub(m,1,1)=='q' then r=r..'q'
elseif has('"ghosts":true') then r=r..'g'
else r=r..'v' end end
return r`)

// elsewhere is how a master stands in all databases.
type elsewhere struct {
	letters string        // "" if it is not known
	asked   time.Duration // when, by our clock
}

// asksElsewhere puts that question behind what a batch asks when it looks, if it is the lane
// of database 0. It tells whether it does.
func (k *keeper) asksElsewhere(link *master.Link, b *batch) bool {
	installation := k.db.engine.installation.name()
	if k.master.DB != 0 || k.db.alone() || installation == "" {
		return false
	}
	b.add(link, elsewhereScript.Eval(quorum.MarkerKey, `"run_id":"`+link.Who.RunID+`"`, `"installation":"`+installation+`"`))
	return true
}

// hearsElsewhere notes what was answered, or that it is not known any more.
func (k *keeper) hearsElsewhere(a decide.Answer, asked time.Duration) {
	if a.Kind != quorum.BulkReply || len(a.Str) > quorum.Databases {
		a.Str = ""
	}
	zero := k.db.engine.zero.lanes[k.index]
	zero.mu.Lock()
	defer zero.mu.Unlock()
	zero.across = elsewhere{a.Str, asked}
}

// health is how all masters stand in a database.
type health uint8

const (
	unsure    health = iota + 1 // a master that is there has not been asked since
	forgotten                   // one does not remember
	haunted                     // all that are there vote, and one may hold what nobody does
	sound
)

// health is that of a database, as far as it was told later than since.
func (e *Engine) health(number int, since time.Duration) health {
	h := sound
	for _, l := range e.zero.lanes {
		l.mu.Lock()
		open, s := l.open, l.across
		l.mu.Unlock()
		switch {
		case !open:
		case s.letters == "" || s.asked <= since:
			h = min(h, unsure)
		case number >= len(s.letters): // it has fewer
		case forgets(s.letters[number]):
			return forgotten
		case s.letters[number] == standsHaunted:
			h = min(h, haunted)
		}
	}
	return h
}

// votesElsewhere tells that a master is known to vote in another database than this one.
func (db *database) votesElsewhere() bool {
	for _, l := range db.engine.zero.lanes {
		l.mu.Lock()
		letters := l.across.letters
		votes := !db.isZero() && l.open && l.sight.Votes
		l.mu.Unlock()
		for number, letter := range []byte(letters) {
			votes = votes || number != db.number() && (letter == standsVoting || letter == standsHaunted)
		}
		if votes {
			return true
		}
	}
	return false
}

// tend does all that, for as long as the engine lasts.
func (e *Engine) tend(ctx context.Context) {
	var closed [quorum.Databases]time.Duration // when each last was, by our clock
	forgot, first := make(map[int]struct{}), rand.IntN(quorum.Databases)
	for ; ctx.Err() == nil; clock.Pause(ctx, e.zero.ProbeInterval/8) {
		if e.zero.firstStart().begun || e.installation.barring() != nil {
			continue // which is over in all databases at once, or never
		}
		room := tendedAtOnce
		for _, d := range e.tended() {
			most := layFor * e.zero.ProbeInterval
			if !d.healed(true) {
				most = healFor*e.zero.ProbeInterval + e.zero.Hush()
			}
			if e.zero.Boot()-d.made < most {
				room--
			}
		}
		// Those in which a master does not remember go before those in which one may hold too much.
		waits := false
		for _, wanted := range []health{forgotten, haunted} {
			for i := range quorum.Databases {
				db := (first + i) % quorum.Databases
				if db == 0 || e.isOpened(db) || e.health(db, closed[db]) != wanted {
					continue
				}
				if room <= 0 {
					waits = waits || wanted == forgotten
				} else if e.unopened(db) != nil {
					if room--; wanted == forgotten {
						forgot[db] = struct{}{}
					}
				}
			}
		}
		for _, d := range e.tended() {
			if d.healed(waits) && e.drop(d) {
				closed[d.number()] = e.zero.Boot()
				e.zero.wait.Go(func() { d.close(ctx) })
			}
		}
		if len(forgot) > 0 && len(e.tended()) == 0 && e.allVote(closed) {
			// Not all of them need to remember: an operator may have said so, or max-ttl be over.
			e.zero.log.Info("all masters vote again in databases that nobody uses", "databases", len(forgot))
			clear(forgot)
		}
	}
}

// allVote tells that all masters are there, and none is kept from voting in any database for what
// it has forgotten, by what they were asked after each was closed.
func (e *Engine) allVote(closed [quorum.Databases]time.Duration) bool {
	for _, l := range e.zero.lanes {
		l.mu.Lock()
		open, letters, asked := l.open, l.across.letters, l.across.asked
		l.mu.Unlock()
		if !open || letters == "" || asked <= slices.Max(closed[:]) || slices.ContainsFunc([]byte(letters), forgets) {
			return false
		}
	}
	return true
}

// tended are the databases that are open though no client has asked for them.
func (e *Engine) tended() []*database {
	return slices.DeleteFunc(e.opened(), func(d *database) bool { return !d.unused() })
}

// healed tells that in a database each master votes that database 0 can reach, but for
// those that have no such database. Unless another database waits for its place, they are to be freed
// of ghosts, too.
func (db *database) healed(waits bool) bool {
	for i, l := range db.lanes {
		zero := db.engine.zero.lanes[i]
		zero.mu.Lock()
		letters := zero.across.letters
		there := zero.open && (letters == "" || db.number() < len(letters))
		zero.mu.Unlock()
		if _, votes := l.asSource(); there && !votes {
			return false
		}
	}
	return waits || db.engine.health(db.number(), db.made) == sound
}

// openForgotten opens each database in which a master of this name does not remember, or may
// not, so that an order can be given about it there.
func (e *Engine) openForgotten(name string) {
	var opened []*database
	for _, l := range e.zero.lanes {
		if l.master.Name != name {
			continue
		}
		l.mu.Lock()
		letters := l.across.letters
		l.mu.Unlock()
		for db := 1; db < quorum.Databases; db++ {
			if letters == "" || db < len(letters) && forgets(letters[db]) {
				if d := e.unopened(db); d != nil {
					opened = append(opened, d)
				}
			}
		}
	}
	for _, d := range opened {
		<-d.tried
	}
}
