package integration

import (
	"slices"
	"time"
)

// What of two replies may differ where neither is wrong.

// isTTL allows for the drift, for what an extension is moved by, and for the time that has passed
// between the two.
func isTTL(x *exchange) bool {
	if !x.is("ttl", "pttl") || x.ours.Kind != ':' || x.theirs.Kind != ':' {
		return false
	}
	ours, theirs := number(x.ours), number(x.theirs)
	if ours <= 0 || theirs <= 0 {
		return false
	}
	unit := time.Millisecond
	if x.is("ttl") {
		unit = time.Second // which are rounded
	}
	apart := time.Duration(theirs-ours) * unit
	lower := time.Duration(theirs)*unit/5000 + 3*time.Millisecond + x.lasted + unit
	return apart >= -101*time.Millisecond-x.lasted-unit && apart <= lower
}

// isOrder compares what has no order as sets.
func isOrder(x *exchange) bool {
	if x.ours.Kind != x.theirs.Kind {
		return false
	}
	sorted := func(r *RawReply, each int) (list []string) {
		for i := 0; i+each <= len(r.Elems); i += each {
			raw := ""
			for _, e := range r.Elems[i : i+each] {
				raw += e.Raw
			}
			list = append(list, raw)
		}
		slices.Sort(list)
		return list
	}
	switch {
	case x.is("hgetall"):
		return slices.Equal(sorted(&x.ours, 2), sorted(&x.theirs, 2))
	case x.is("smembers", "keys", "pubsub|channels", "pubsub|shardchannels", "hkeys", "hvals"):
		return slices.Equal(sorted(&x.ours, 1), sorted(&x.theirs, 1))
	case x.is("unsubscribe", "sunsubscribe", "punsubscribe") && len(x.args) == 1:
		return len(x.ours.Elems) == 3 && len(x.theirs.Elems) == 3 && x.ours.Elems[0].Raw == x.theirs.Elems[0].Raw && x.ours.Elems[2].Raw == x.theirs.Elems[2].Raw
	case x.is("hscan", "sscan", "zscan") && len(x.ours.Elems) == 2 && len(x.theirs.Elems) == 2:
		each := 2
		if x.is("sscan") {
			each = 1
		}
		complete := x.args[2] == "0" && x.ours.Elems[0].Text == "0" && x.theirs.Elems[0].Text == "0"
		return !complete || slices.Equal(sorted(&x.ours.Elems[1], each), sorted(&x.theirs.Elems[1], each))
	case x.is("randomkey"):
		return x.ours.Null == x.theirs.Null
	case x.is("scan") && len(x.ours.Elems) == 2 && len(x.theirs.Elems) == 2:
		complete := x.args[1] == "0" && x.ours.Elems[0].Text == "0" && x.theirs.Elems[0].Text == "0"
		return !complete || slices.Equal(sorted(&x.ours.Elems[1], 1), sorted(&x.theirs.Elems[1], 1))
	}
	return false
}

// isEnd allows of a time what isTTL allows of what is left until then.
func isEnd(x *exchange) bool {
	if !x.is("expiretime", "pexpiretime") || x.ours.Kind != ':' || x.theirs.Kind != ':' || number(x.ours) <= 0 || number(x.theirs) <= 0 {
		return false
	}
	unit := time.Millisecond
	if x.is("expiretime") {
		unit = time.Second
	}
	theirs := time.UnixMilli(number(x.theirs) * int64(unit/time.Millisecond))
	apart := time.Duration(number(x.theirs)-number(x.ours)) * unit
	return apart >= -101*time.Millisecond-x.lasted-unit && apart <= time.Until(theirs)/5000+3*time.Millisecond+x.lasted+unit
}

// isChoice tells that both have chosen as many.
func isChoice(x *exchange) bool {
	return x.is("spop", "srandmember") && x.ours.Kind == x.theirs.Kind && x.ours.Null == x.theirs.Null && len(x.ours.Elems) == len(x.theirs.Elems)
}
