package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"redlock-proxy/quorum"
)

// before is asked before each command, and answers those that miniredis does
// not know or answers too shortly. It is also asked for each command of a
// script, while miniredis is locked, so it uses nothing that locks it.
func (e *embedded) before(p *server.Peer, command string, args ...string) (done bool) {
	if ice := e.ice.Load(); ice != nil {
		<-*ice
	}
	if p.Closed() {
		// It was killed: what it still sends is not carried out.
		return true
	}
	e.tick()
	switch command {
	case "INFO":
		if len(args) == 1 && strings.EqualFold(args[0], "keyspace") {
			p.WriteBulk(e.keyspace())
			break
		}
		p.WriteBulk(e.info())
	case "TIME":
		// Miniredis's own clock moves from tick to tick.
		now := e.now()
		p.WriteLen(2)
		p.WriteBulk(strconv.FormatInt(now.Unix(), 10))
		p.WriteBulk(strconv.Itoa(now.Nanosecond() / 1000))
	case "ROLE":
		p.WriteLen(3)
		p.WriteBulk("master")
		p.WriteInt(0)
		p.WriteLen(0)
	case "CONFIG":
		return e.config(p, args)
	case "CLIENT":
		return e.client(p, args)
	case "OBJECT":
		if len(args) == 2 && !strings.EqualFold(args[0], "IDLETIME") {
			p.WriteError("ERR this master is embedded, and keeps values otherwise than Redis does")
			break
		}
		return false
	case "COMMAND":
		return e.commandInfo(p, args)
	case "EVAL":
		return e.eval(p, args)
	case "DUMP":
		return e.dump(p, args)
	case "RESTORE":
		return e.restore(p, args)
	default:
		nearer(command, args)
		return false
	}
	return true
}

// mostTTL is what miniredis can count, in milliseconds: 290 years.
const mostTTL = "9150000000000"

// nearer has a command set no longer ttl. The masters are told milliseconds alone.
func nearer(command string, args []string) {
	at := 0
	switch command {
	case "PEXPIRE", "PSETEX":
		at = 1
	case "SET":
		at = 1 + slices.IndexFunc(args, func(s string) bool { return strings.EqualFold(s, "PX") })
		if at < 3 { // of the key, or the value
			return
		}
	}
	if at > 0 && at < len(args) && (len(args[at]) > len(mostTTL) || len(args[at]) == len(mostTTL) && args[at] > mostTTL) {
		if _, err := strconv.ParseUint(args[at], 10, 63); err == nil {
			args[at] = mostTTL
		}
	}
}

func (e *embedded) info() string {
	uptime := int(time.Since(e.started) / time.Second)
	return strings.Join([]string{
		"# Server", "redis_version:7.2.0", "redis_mode:standalone", "run_id:" + e.runID,
		"tcp_port:" + e.address[strings.LastIndex(e.address, ":")+1:], "uptime_in_seconds:" + strconv.Itoa(uptime), "",
		"# Clients", "connected_clients:" + strconv.Itoa(e.server.ClientsLen()), "",
		"# Memory", "maxmemory:0", "maxmemory_policy:noeviction", "",
		"# Persistence", "loading:0", "aof_enabled:0", "",
		"# Replication", "role:master", "connected_slaves:0", "",
		"# Cluster", "cluster_enabled:0", "",
	}, "\r\n")
}

// keyspace is how many keys there are, and how many of them with a ttl. It locks miniredis: no
// script asks for it.
func (e *embedded) keyspace() string {
	var b strings.Builder
	b.WriteString("# Keyspace\r\n")
	for n := range quorum.Databases {
		db, mortal := e.redis.DB(n), 0
		keys := db.Keys()
		for _, key := range keys {
			if db.TTL(key) > 0 {
				mortal++
			}
		}
		if len(keys) > 0 {
			fmt.Fprintf(&b, "db%d:keys=%d,expires=%d,avg_ttl=0\r\n", n, len(keys), mortal)
		}
	}
	return b.String()
}

// config answers CONFIG GET with what is true of a server that keeps nothing.
func (e *embedded) config(p *server.Peer, args []string) (done bool) {
	if len(args) < 2 || !strings.EqualFold(args[0], "GET") {
		return false
	}
	known := map[string]string{
		"appendonly": "no", "appendfsync": "everysec", "no-appendfsync-on-rewrite": "no", "save": "",
		"maxmemory": "0", "maxmemory-policy": "noeviction", "databases": "16",
	}
	var pairs []string
	for _, name := range args[1:] {
		if value, ok := known[strings.ToLower(name)]; ok {
			pairs = append(pairs, name, value)
		}
	}
	p.WriteMapLen(len(pairs) / 2)
	for _, text := range pairs {
		p.WriteBulk(text)
	}
	return true
}

// commandInfo answers COMMAND INFO of one command by its name, if there is such a one.
func (e *embedded) commandInfo(p *server.Peer, args []string) (done bool) {
	if len(args) != 2 || !strings.EqualFold(args[0], "INFO") {
		return false
	}
	p.WriteLen(1)
	if !e.server.IsRegisteredCommand(args[1]) {
		p.WriteNull()
		return true
	}
	p.WriteLen(1)
	p.WriteBulk(strings.ToLower(args[1]))
	return true
}

// client answers the subcommands of CLIENT by which a connection is named and
// ended.
func (e *embedded) client(p *server.Peer, args []string) (done bool) {
	if len(args) == 0 {
		return false
	}
	switch strings.ToUpper(args[0]) {
	case "ID":
		p.WriteInt(e.id(p))
	case "KILL":
		if len(args) < 3 || !strings.EqualFold(args[1], "ID") {
			p.WriteError("ERR syntax error")
			break
		}
		id, err := strconv.Atoi(args[2])
		if err != nil || id <= 0 {
			p.WriteError("ERR client-id should be greater than 0")
			break
		}
		p.WriteInt(e.kill(id))
	case "SETINFO", "NO-EVICT", "NO-TOUCH":
		p.WriteOK()
	default:
		return false
	}
	return true
}

// id is the number of a connection, given to it when it asks first.
func (e *embedded) id(p *server.Peer) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, ok := e.ids[p]
	if !ok {
		e.lastID++
		id = e.lastID
		e.ids[p], e.peers[id] = id, p
		p.OnDisconnect(func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(e.ids, p)
			delete(e.peers, id)
		})
	}
	return id
}

// kill ends a connection: none of its commands is carried out any more. Its
// socket is closed when it sends the next one.
func (e *embedded) kill(id int) (killed int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.peers[id]
	if !ok {
		return 0
	}
	p.Close()
	return 1
}
