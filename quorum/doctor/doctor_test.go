package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum/marker"
)

// noon is a time by our clock.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// right are facts with which nothing is wrong, about three masters called a, b and c.
func right() *Facts {
	f := &Facts{
		Terms:         marker.Terms{Set: []string{"a", "b", "c"}, AcquireTimeout: 250, MaxTTL: 300_000},
		MasterTimeout: 500 * time.Millisecond,
		ProbeInterval: time.Second,
		Machine:       Machine{FilesNeeded: 10_096, FilesAllowed: 1 << 20, MaxClients: 10_000, Backlog: 4096},
	}
	for _, name := range f.Terms.Set {
		f.Masters = append(f.Masters, Master{
			Name: name,
			Info: map[string]string{"run_id": "run of " + name, "redis_version": "7.2.4", "redis_mode": "standalone", "role": "master", "connected_slaves": "0",
				"maxmemory": "0", "maxmemory_policy": "noeviction", "used_memory": "1000000", "connected_clients": "3", "db0": "keys=12,expires=12,avg_ttl=1"},
			Settings: map[string]string{"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no", "timeout": "0",
				"min-replicas-to-write": "0", "maxclients": "10000", "bind": "127.0.0.1", "protected-mode": "yes"},
			Calls:      map[string]string{"SET": "ERR syntax error", "EVALSHA": "NOSCRIPT No matching script. Please use EVAL."},
			RoundTrips: []time.Duration{300 * time.Microsecond, 200 * time.Microsecond, 40 * time.Millisecond},
			Readings:   readings(0, 0),
			Marks:      []string{mark(name, 0, nil), mark(name, 1, nil)},
		})
	}
	return f
}

// readings are two looks at a clock that is off, and runs ahead by so much in the second between.
func readings(off, ahead time.Duration) []Reading {
	const trip = 200 * time.Microsecond
	later := noon.Add(time.Second)
	return []Reading{
		{noon, noon.Add(trip), noon.Add(trip/2 + off)},
		{later, later.Add(trip), later.Add(trip/2 + off + ahead)},
	}
}

// mark is a marker of one of the masters, changed.
func mark(name string, db int, change func(*marker.Marker)) string {
	m := marker.Marker{Nonce: "v0123456789abcdef", Installation: "i", Member: name, DB: db, RunID: "run of " + name,
		Terms: marker.Terms{Set: []string{"a", "b", "c"}, AcquireTimeout: 250, MaxTTL: 300_000}}
	if change != nil {
		change(&m)
	}
	return m.String()
}

func TestNothingIsWrongWithARightSet(t *testing.T) {
	if found := Judge(right()); len(found) > 0 || Worst(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// wrongs change the facts of a right set, most of them those of its first master.
var wrongs = map[string]struct {
	change func(f *Facts, a *Master)
	worst  Severity // 0: nothing is wrong
	finds  string   // names, sorted
	says   string   // in one of them
}{
	"away":                {func(f *Facts, a *Master) { a.Away = "connection refused" }, Breaks, "away", "start it"},
	"in protected mode":   {func(f *Facts, a *Master) { a.Away = "DENIED Redis is running in protected mode" }, Breaks, "away", "master-password-file"},
	"wants a password":    {func(f *Facts, a *Master) { a.Away = "NOAUTH Authentication required." }, Breaks, "away", "name its password"},
	"hangs":               {func(f *Facts, a *Master) { a.Away = "read tcp: i/o timeout" }, Breaks, "away", "hangs"},
	"wants TLS":           {func(f *Facts, a *Master) { a.Away = "read tcp: connection reset by peer" }, Breaks, "away", "rediss://"},
	"wants no TLS":        {func(f *Facts, a *Master) { a.Away = "tls: first record does not look like a TLS handshake" }, Breaks, "away", "redis://"},
	"wants a certificate": {func(f *Facts, a *Master) { a.Away = "remote error: tls: certificate required" }, Breaks, "away", "master-tls-cert-file"},
	"shows a certificate of nobody's": {func(f *Facts, a *Master) {
		a.Away = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
	}, Breaks, "away", "master-tls-ca-cert-file"},
	"Sentinel":     {func(f *Facts, a *Master) { a.Info["redis_mode"], a.Marks = "sentinel", nil }, Breaks, "sentinel", "the master's own address"},
	"cluster node": {func(f *Facts, a *Master) { a.Info["cluster_enabled"] = "1" }, Breaks, "cluster", "cluster-enabled no"},
	"replica": {func(f *Facts, a *Master) {
		a.Info["role"], a.Info["master_host"], a.Info["master_port"] = "slave", "h", "1"
	}, Breaks, "replica", "REPLICAOF NO ONE"},
	"has replicas": {func(f *Facts, a *Master) { a.Info["connected_slaves"] = "1" }, Warning, "replicas", "1 replicas"},
	"is watched":   {func(f *Facts, a *Master) { a.Info["connected_slaves"], a.Watchers = "1", 3 }, Breaks, "failover", "SENTINEL REMOVE"},
	"loads":        {func(f *Facts, a *Master) { a.Info["loading"] = "1" }, Breaks, "loading", "wait"},
	"is old": {func(f *Facts, a *Master) {
		for i := range f.Masters {
			f.Masters[i].Info["redis_version"] = "6.0.20"
		}
	}, Breaks, "old", "6.2 or later"},
	"is of another version":     {func(f *Facts, a *Master) { a.Info["redis_version"] = "6.2.14" }, Warning, "versions", "a 6.2.14, b 7.2.4, c 7.2.4"},
	"is of a later minor":       {func(f *Facts, a *Master) { a.Info["redis_version"] = "7.4.1" }, 0, "", ""},
	"Valkey":                    {func(f *Facts, a *Master) { a.Info["valkey_version"] = "8.0.1" }, Warning, "versions", "valkey-8.0.1"},
	"no AOF":                    {func(f *Facts, a *Master) { a.Settings["appendonly"] = "no" }, Warning, "no-aof", "of 2 masters at once, nobody gets a lock for 5m0s"},
	"syncs each second":         {func(f *Facts, a *Master) { a.Settings["appendfsync"] = "everysec" }, Warning, "fsync", "CONFIG SET appendfsync always"},
	"does not sync on rewrites": {func(f *Facts, a *Master) { a.Settings["no-appendfsync-on-rewrite"] = "yes" }, Warning, "fsync-on-rewrite", "no-appendfsync-on-rewrite no"},
	"no AOF, alone": {func(f *Facts, a *Master) {
		a.Settings["appendonly"], a.Marks, f.Masters = "no", nil, f.Masters[:1]
	}, Breaks, "alone no-aof", "given a second time"},
	"evicts": {func(f *Facts, a *Master) {
		a.Info["maxmemory"], a.Info["maxmemory_policy"] = "2000000000", "volatile-ttl"
	}, Breaks, "evicts", "a lock can vanish"},
	"would evict":      {func(f *Facts, a *Master) { a.Info["maxmemory_policy"] = "allkeys-lru" }, Warning, "evicts", "if maxmemory was set"},
	"is nearly full":   {func(f *Facts, a *Master) { a.Info["maxmemory"] = "1100000" }, Warning, "full", "90 %"},
	"is full":          {func(f *Facts, a *Master) { a.Info["maxmemory"] = "900000" }, Breaks, "full", "takes no new lock"},
	"has room":         {func(f *Facts, a *Master) { a.Info["maxmemory"] = "9000000" }, 0, "", ""},
	"holds much":       {func(f *Facts, a *Master) { a.Info["db3"] = "keys=2000000,expires=0" }, Warning, "keys", "2000012 keys"},
	"closes idle ones": {func(f *Facts, a *Master) { a.Settings["timeout"] = "2" }, Breaks, "timeout", "CONFIG SET timeout 0"},
	"closes late":      {func(f *Facts, a *Master) { a.Settings["timeout"] = "300" }, 0, "", ""},
	"wants replicas":   {func(f *Facts, a *Master) { a.Settings["min-replicas-to-write"] = "1" }, Breaks, "min-replicas", "refuses every write: it has no vote"},
	"few clients":      {func(f *Facts, a *Master) { a.Settings["maxclients"] = "20" }, Breaks, "maxclients", "CONFIG SET maxclients 10000"},
	"cannot save":      {func(f *Facts, a *Master) { a.Calls["SET"] = "MISCONF Errors writing to the AOF file" }, Breaks, "misconf", "room on its disk"},
	"open":             {func(f *Facts, a *Master) { a.Settings["protected-mode"], a.Settings["bind"] = "no", "* -::*" }, Warning, "open", "no password"},
	"open, by password": {func(f *Facts, a *Master) {
		a.Settings["protected-mode"], a.Settings["bind"], a.Password = "no", "*", true
	}, 0, "", ""},
	"no right to vote": {func(f *Facts, a *Master) { a.Calls["EVALSHA"] = "NOPERM this user has no permissions" }, Breaks, "rights", "+evalsha"},
	"no right to INFO": {func(f *Facts, a *Master) {
		a.Info, a.Calls["INFO"] = nil, "NOPERM this user has no permissions to run the 'info' command"
	}, Breaks, "rights", "+info"},
	"no right to hear": {func(f *Facts, a *Master) { a.Calls["SUBSCRIBE"] = "NOPERM No permissions to access a channel" }, Warning, "rights", "proxies do not hear each other"},
	"no right to that channel, which nobody needs": {func(f *Facts, a *Master) { a.Calls["PUBLISH"] = "NOPERM No permissions to access a channel" }, 0, "", ""},
	"renamed":               {func(f *Facts, a *Master) { a.Calls["CLIENT|KILL"] = "ERR unknown command `CLIENT`, with args" }, Breaks, "renamed", "rename-command"},
	"flushes are not asked": {func(f *Facts, a *Master) { a.Calls["FLUSHALL"] = "NOPERM" }, 0, "", ""},
	"flushes are":           {func(f *Facts, a *Master) { f.Flushes, a.Calls["FLUSHALL"] = true, "NOPERM may not" }, Warning, "rights", "+flushall"},
	"flushes are not there": {func(f *Facts, a *Master) { f.Flushes, a.Calls["FLUSHDB"] = true, "ERR Command 'FLUSHDB' not found" }, Warning, "renamed", "FLUSHDB"},
	"out of reach":          {func(f *Facts, a *Master) { a.RoundTrips = []time.Duration{time.Second, 300 * time.Millisecond} }, Breaks, "far", "250ms"},
	"far":                   {func(f *Facts, a *Master) { a.RoundTrips = []time.Duration{70 * time.Millisecond} }, Warning, "far", "70ms"},
	"clock off":             {func(f *Facts, a *Master) { a.Readings = readings(-time.Minute, 0) }, Warning, "clock", "1m0s behind that of"},
	"clock off, a little":   {func(f *Facts, a *Master) { a.Readings = readings(900*time.Millisecond, 0) }, 0, "", ""},
	"clock runs fast":       {func(f *Facts, a *Master) { a.Readings = readings(0, 30*time.Millisecond) }, Breaks, "clock-rate", "one in a hundred"},
	"clock runs slowly":     {func(f *Facts, a *Master) { a.Readings = readings(0, -30*time.Millisecond) }, Breaks, "clock-rate", "one in a hundred"},
	"clock runs a bit fast": {func(f *Facts, a *Master) { a.Readings = readings(0, 9*time.Millisecond) }, 0, "", ""},
	"no two clocks alike": {func(f *Facts, a *Master) {
		for i := range f.Masters {
			f.Masters[i].Readings = readings(time.Duration(i)*time.Hour, 0)
		}
	}, Warning, "clocks", "EXPIREAT"},
	"our clock off": {func(f *Facts, a *Master) {
		for i := range f.Masters {
			f.Masters[i].Readings = readings(time.Hour, 0)
		}
	}, Warning, "own-clock", "1h0m0s behind that of the masters"},
	"twin": {func(f *Facts, a *Master) {
		f.Masters[2].Info["run_id"] = "run of b"
		f.Masters[2].Marks = f.Masters[2].Marks[:0]
	}, Breaks, "twin", "the same server as b"},
	"even":                    {func(f *Facts, a *Master) { f.Masters = f.Masters[:2] }, Warning, "even", "2 masters, an even number"},
	"fewer databases":         {func(f *Facts, a *Master) { a.Marks = a.Marks[:1] }, Breaks, "databases", "no vote in databases 1 to 1"},
	"few files":               {func(f *Facts, a *Master) { f.Machine.FilesAllowed = 1024 }, Warning, "files", "LimitNOFILE"},
	"short queue":             {func(f *Facts, a *Master) { f.Machine.Backlog = 128 }, Warning, "backlog", "somaxconn"},
	"nothing known":           {func(f *Facts, a *Master) { f.Machine = Machine{MaxClients: 10_000} }, 0, "", ""},
	"no marker":               {func(f *Facts, a *Master) { a.Marks = []string{"", ""} }, Breaks, "unmarked", "lost its memory"},
	"no marker in one":        {func(f *Facts, a *Master) { a.Marks[1] = "" }, Breaks, "quarantined", "in 1 of 2 databases, the first being 1: its marker is gone"},
	"no marker, and no proxy": {func(f *Facts, a *Master) { a.Marks = []string{"", ""} }, Breaks, "unmarked", "bootstrap does not"},
	"no marker beside another set's": {func(f *Facts, a *Master) {
		a.Marks = []string{"", ""}
		for _, m := range f.Masters[1:] {
			m.Marks[0] = mark(m.Name, 0, func(m *marker.Marker) { m.MaxTTL = 1000 })
		}
	}, Breaks, "foreign unmarked", "see to those first that cannot be asked, or are of another set"},
	"a new set": {func(f *Facts, a *Master) {
		for i := range f.Masters {
			f.Masters[i].Marks = []string{"", ""}
		}
	}, Breaks, "unmarked", "--no-locks-held"},
	"garbage": {func(f *Facts, a *Master) { a.Marks[0] = "nonsense" }, Breaks, "marker", "find out who wrote that"},
	"quarantine": {func(f *Facts, a *Master) {
		for db := range a.Marks {
			a.Marks[db] = mark("a", db, func(m *marker.Marker) { m.Nonce, m.Why = "q0123456789abcdef", "it has evicted 3 keys" })
		}
	}, Breaks, "quarantined", "in all databases: it has evicted 3 keys"},
	"restarted": {func(f *Facts, a *Master) { a.Info["run_id"] = "another" }, Breaks, "quarantined", "started anew"},
	"restarted, and durable": {func(f *Facts, a *Master) {
		a.Info["run_id"] = "another"
		for db := range a.Marks {
			a.Marks[db] = mark("a", db, func(m *marker.Marker) { m.Durable = true })
		}
	}, 0, "", ""},
	"foreign":       {func(f *Facts, a *Master) { a.Marks[0] = mark("a", 0, func(m *marker.Marker) { m.MaxTTL = 1000 }) }, Breaks, "foreign", "max-ttl is 1s on the masters and 5m0s here"},
	"being changed": {func(f *Facts, a *Master) { a.Marks[0] = mark("a", 0, func(m *marker.Marker) { m.Changing = true }) }, Breaks, "foreign", "has not finished"},
	"another's":     {func(f *Facts, a *Master) { a.Marks[0] = mark("b", 0, nil) }, Breaks, "foreign", "that of b"},
	"marked apart": {func(f *Facts, a *Master) {
		for db := range a.Marks {
			a.Marks[db] = mark("a", db, func(m *marker.Marker) { m.Installation = "j" })
		}
	}, Breaks, "installations", "2 installations"},
	"of a set, alone": {func(f *Facts, a *Master) { f.Masters = f.Masters[:1] }, Breaks, "alone marker", "it bears the marker of a set"},
}

func TestEachFactHasItsFinding(t *testing.T) {
	for name, c := range wrongs {
		t.Run(name, func(t *testing.T) {
			f := right()
			c.change(f, &f.Masters[0])
			found := Judge(f)
			if worst := Worst(found); worst != c.worst {
				t.Errorf("the worst is %v, want %v", worst, c.worst)
			}
			if names := namesOf(found); names != c.finds {
				t.Errorf("it finds %q, want %q", names, c.finds)
			}
			if text := textOf(found); !strings.Contains(text, c.says) {
				t.Errorf("it does not say %q:\n%s", c.says, text)
			}
			if len(found) > 0 && found[0].Severity != c.worst {
				t.Errorf("the first is a %v", found[0].Severity)
			}
		})
	}
}

func namesOf(found []Finding) string {
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func textOf(found []Finding) (text string) {
	for _, f := range found {
		text += f.Where() + ": " + f.What + ": " + f.Means + "; " + f.Cure + "\n"
	}
	return text
}

func TestOneFindingOfSeveralMastersIsTold(t *testing.T) {
	f := right()
	for i := range f.Masters {
		f.Masters[i].Settings["appendonly"] = "no"
	}
	found := Judge(f)
	if len(found) != 1 || found[0].Where() != "masters a, b, c" {
		t.Errorf("%+v", found)
	}
}

// What has no harmless form is asked about by ACL DRYRUN.
func TestNoCallHarms(t *testing.T) {
	for _, c := range Calls {
		for _, word := range []string{"FLUSHALL", "FLUSHDB", "SHUTDOWN", "SCRIPT KILL", "SCRIPT FLUSH"} {
			if strings.HasPrefix(strings.Join(c.Args, " "), word) {
				t.Errorf("%q is carried out on masters", c.Args)
			}
		}
	}
}
