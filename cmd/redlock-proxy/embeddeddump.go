package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// Miniredis dumps and restores strings alone, and what a script does to a lock that is a hash
// could not be undone. So DUMP and RESTORE are made here of what it does know, and in Redis's own
// coding, since what masters dump is compared. The engine asks for them in scripts, while nobody
// else is served.

// The types that a dump begins with.
const (
	dumpedString = 0
	dumpedList   = 1
	dumpedSet    = 2
	dumpedHash   = 4
	dumpedZset   = 5
)

const (
	dumpVersion = "\x09\x00" // of the coding: behind what is dumped, and before the checksum of both
	dumpEnding  = len(dumpVersion) + 8

	errDumpPayload = "ERR DUMP payload version or checksum are wrong"
)

// jones is the checksum's polynomial. Redis inverts neither before nor after.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)

func ended(dump []byte) string {
	dump = append(dump, dumpVersion...)
	return string(binary.LittleEndian.AppendUint64(dump, ^crc64.Update(^uint64(0), jones, dump)))
}

// ask carries out a command as part of p's.
func (e *embedded) ask(p *server.Peer, args ...string) (any, error) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	part := server.NewPeer(w)
	part.Ctx = p.Ctx
	e.server.Dispatch(part, args)
	w.Flush()
	return server.ParseReply(bufio.NewReader(&b))
}

// list is the strings that a command answers with.
func (e *embedded) list(p *server.Peer, args ...string) []string {
	reply, _ := e.ask(p, args...)
	elems, _ := reply.([]any)
	list := make([]string, len(elems))
	for i, elem := range elems {
		list[i], _ = elem.(string)
	}
	return list
}

// dump answers DUMP of what it knows.
func (e *embedded) dump(p *server.Peer, args []string) (done bool) {
	if len(args) != 1 {
		return false
	}
	reply, _ := e.ask(p, "TYPE", args[0])
	kind, _ := reply.(server.Simple)
	var b []byte
	switch kind {
	case "string":
		value, _ := e.ask(p, "GET", args[0])
		s, _ := value.(string)
		b = appendDumped([]byte{dumpedString}, s)
	case "hash":
		b = appendPairs(dumpedHash, e.list(p, "HGETALL", args[0]), func(value string) []byte { return appendDumped(nil, value) })
	case "set":
		members := e.list(p, "SMEMBERS", args[0])
		slices.Sort(members)
		b = appendDumpedLength([]byte{dumpedSet}, len(members))
		for _, member := range members {
			b = appendDumped(b, member)
		}
	case "list":
		elements := e.list(p, "LRANGE", args[0], "0", "-1")
		b = appendDumpedLength([]byte{dumpedList}, len(elements))
		for _, element := range elements {
			b = appendDumped(b, element)
		}
	case "zset":
		b = appendPairs(dumpedZset, e.list(p, "ZRANGE", args[0], "0", "-1", "WITHSCORES"), func(score string) []byte {
			f, _ := strconv.ParseFloat(score, 64)
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
		})
	default:
		return false
	}
	p.WriteBulk(ended(b))
	return true
}

// appendPairs dumps names, each with a value behind it, which code codes. Miniredis has them in
// no order of its own.
func appendPairs(kind byte, list []string, code func(value string) []byte) []byte {
	pairs := slices.Collect(slices.Chunk(list, 2))
	slices.SortFunc(pairs, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	b := appendDumpedLength([]byte{kind}, len(pairs))
	for _, pair := range pairs {
		b = append(appendDumped(b, pair[0]), code(pair[1])...)
	}
	return b
}

func appendDumpedLength(b []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0x80), uint32(n))
}

func appendDumped(b []byte, s string) []byte { return append(appendDumpedLength(b, len(s)), s...) }

// dumped reads what dump has made.
type dumped struct {
	rest string
	bad  bool
}

func (d *dumped) cut(n int) string {
	if d.bad || n > len(d.rest) {
		d.bad = true
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *dumped) length() int {
	s := d.cut(5)
	if d.bad || s[0] != 0x80 {
		d.bad = true
		return 0
	}
	return int(binary.BigEndian.Uint32([]byte(s[1:])))
}

func (d *dumped) string() string { return d.cut(d.length()) }

func (d *dumped) score() string {
	s := d.cut(8)
	if d.bad {
		return ""
	}
	return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64([]byte(s))), 'g', -1, 64)
}

// makes is the command that makes of a key what was dumped. It is false of what is no dump.
func makes(key, payload string) (args []string, ok bool) {
	body := len(payload) - dumpEnding
	if body <= 0 || payload != ended([]byte(payload[:body])) {
		return nil, false
	}
	d := &dumped{rest: payload[1:body]}
	switch payload[0] {
	case dumpedString:
		return []string{"SET", key, d.string()}, !d.bad && d.rest == ""
	case dumpedHash:
		args = []string{"HSET", key}
		for n := d.length(); n > 0 && !d.bad; n-- {
			args = append(args, d.string(), d.string())
		}
	case dumpedSet, dumpedList:
		args = []string{map[byte]string{dumpedSet: "SADD", dumpedList: "RPUSH"}[payload[0]], key}
		for n := d.length(); n > 0 && !d.bad; n-- {
			args = append(args, d.string())
		}
	case dumpedZset:
		args = []string{"ZADD", key}
		for n := d.length(); n > 0 && !d.bad; n-- {
			member := d.string()
			args = append(args, d.score(), member)
		}
	}
	return args, len(args) > 2 && !d.bad && d.rest == ""
}

// restore answers RESTORE of a dump, with a ttl in milliseconds from now.
func (e *embedded) restore(p *server.Peer, args []string) (done bool) {
	if len(args) < 3 || len(args) > 4 || len(args) == 4 && !strings.EqualFold(args[3], "REPLACE") {
		return false
	}
	key, ttl := args[0], args[1]
	millis, err := strconv.ParseInt(ttl, 10, 64)
	making, ok := makes(key, args[2])
	there, _ := e.ask(p, "EXISTS", key)
	switch {
	case err != nil || millis < 0:
		p.WriteError("ERR Invalid TTL value, must be >= 0")
	case there == 1 && len(args) == 3:
		p.WriteError("BUSYKEY Target key name already exists.")
	case !ok:
		p.WriteError(errDumpPayload)
	default:
		e.ask(p, "DEL", key)
		e.ask(p, making...)
		if millis > 0 {
			e.ask(p, "PEXPIRE", key, ttl)
		}
		p.WriteOK()
	}
	return true
}
