package engine

import (
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"redlock-proxy/quorum/master"
)

// alive are the names of the keys there are, in an order of the process's own, as
// that of a hash table is.
func (m *fakeMaster) alive() (names []string) {
	for name := range m.keys {
		if _, ok := m.key(name); ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := m.bucket(a), m.bucket(b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return names
}

// bucket is never zero.
func (m *fakeMaster) bucket(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(m.runID + "/" + name[max(0, len(name)-100):])) // they differ in their ends
	return h.Sum64()>>40 + 1
}

// unpage is the SCAN that a call of master.PageScript is for, with what its names may come to.
func (m *fakeMaster) unpage(args []string) (rest []string, reply string) {
	if !runs(args, master.PageScript) {
		return args, ""
	}
	if args[0] == "EVALSHA" && m.scripts[master.PageScript.SHA] == nil {
		return nil, "-NOSCRIPT No matching script. Please use EVAL.\r\n"
	}
	m.scripts[master.PageScript.SHA] = master.PageScript
	return append([]string{"SCAN", args[4], "COUNT", args[5], "BYTES", args[3]}, args[6:]...), ""
}

// scan goes on behind the bucket that the cursor names.
func (m *fakeMaster) scan(args []string) string {
	cursor, _ := strconv.ParseUint(args[1], 10, 64)
	count := 10
	if i := slices.Index(args, "COUNT"); i > 0 {
		count, _ = strconv.Atoi(args[i+1])
	}
	most, bytes := math.MaxInt, 0
	if i := slices.Index(args, "BYTES"); i > 0 {
		most, _ = strconv.Atoi(args[i+1])
	}
	var page []string
	for _, name := range m.alive() {
		if m.bucket(name) <= cursor {
			continue
		}
		// In steps of ten.
		if len(page) >= count || len(page) > 0 && len(page)%10 == 0 && bytes >= most {
			return array(bulk(strconv.FormatUint(m.bucket(page[len(page)-1]), 10)), bulkList(page))
		}
		page, bytes = append(page, name), bytes+len(name)
	}
	return array(bulk("0"), bulkList(page))
}

func bulkList(list []string) string {
	replies := make([]string, len(list))
	for i, s := range list {
		replies[i] = bulk(s)
	}
	return array(replies...)
}
