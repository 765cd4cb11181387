package commands

import (
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// contentScript tells what a key holds on one master: its type, what is left of its ttl in
// milliseconds, and its value, or the elements of that. Of what is longer than ARGV[1] bytes, or
// has more than 64 elements, it tells no value.
const contentScript = `local t = redis.call('TYPE', KEYS[1]).ok
if t == 'none' then return {t} end
local most, head = tonumber(ARGV[1]), {t, redis.call('PTTL', KEYS[1])}
if t == 'string' then
	if redis.call('STRLEN', KEYS[1]) <= most then head[3] = redis.call('GET', KEYS[1]) end
	return head
end
local ask = {hash = {'HLEN', 'HGETALL'}, set = {'SCARD', 'SMEMBERS'}, list = {'LLEN', 'LRANGE', 0, -1}, zset = {'ZCARD', 'ZRANGE', 0, -1}}
local a = ask[t]
if not a or redis.call(a[1], KEYS[1]) > 64 then return head end
local size = redis.pcall('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', '0') -- no number where it cannot be asked
if type(size) == 'number' and size > most + 16384 then return head end
local list = a[3] and redis.call(a[2], KEYS[1], a[3], a[4]) or redis.call(a[2], KEYS[1])
local r = {t, head[2]}
for i, v in ipairs(list) do
	most = most - #v
	if most < 0 then return head end
	r[#r + 1] = v
end
return r`

// How many bytes of a value are read to tell whose it is: of one lock, and of each of many.
const (
	mostContent = "65536"
	mostOfEach  = "4096"
)

// askContents asks each master what a key holds, and the quorum for what that amounts to.
func askContents(key, most string) []quorum.Request {
	return []quorum.Request{
		{Kind: quorum.Survey, Args: []string{"EVAL", contentScript, "1", key, most}},
		{Kind: quorum.Read, Key: key},
	}
}

// content is what one master holds.
type content struct {
	given bool
	why   string // of a master that has answered with an error
	typ   string // none where there is no such key
	parts []string
	left  int64 // milliseconds; -1 is no ttl
}

func (c *content) same(o *content) bool {
	return c.given && o.given && c.typ == o.typ && slices.Equal(c.parts, o.parts)
}

func contentsOf(r quorum.Result) []content {
	list := make([]content, len(r.Answers))
	for i, a := range r.Answers {
		list[i] = contentOf(a)
	}
	return list
}

func contentOf(a quorum.SurveyAnswer) content {
	if a.Given && a.Reply.Kind == quorum.FailureReply {
		return content{why: oneLine(a.Reply.Str)}
	}
	if !a.Given || len(a.Reply.Elems) == 0 {
		return content{}
	}
	c := content{given: true, typ: a.Reply.Elems[0].Str}
	if len(a.Reply.Elems) > 1 {
		c.left = a.Reply.Elems[1].Int
		for _, e := range a.Reply.Elems[2:] {
			c.parts = append(c.parts, e.Str)
		}
	}
	if c.typ == "hash" || c.typ == "set" { // a hash's fields and values, in whatever order
		c.parts = slices.Sorted(slices.Values(c.parts))
	}
	return c
}

// lockState is what the masters hold of a key, all together.
type lockState struct {
	state    string // held, free or unknown
	why      string // of unknown
	value    content
	left     int64 // milliseconds; -1 is no ttl
	contents []content
	unheard  bool // the masters were not asked each by itself, or too few to be heard
	unread   bool // too few were to know what a quorum holds
}

const (
	heldState    = "held"
	freeState    = "free"
	unknownState = "unknown"
)

// stateOf takes the results of askContents. What a quorum holds the Read says; which value that is,
// so many masters agree on.
func stateOf(results []quorum.Result) lockState {
	survey, read := results[0], results[1]
	_, unheard := failure(survey)
	k := lockState{state: unknownState, contents: contentsOf(survey), unheard: unheard}
	if text, failed := failure(read); failed {
		k.why, k.unread = text.Str, read.Decision != quorum.Split
		return k
	}
	if !read.Exists {
		if k.state = freeState; k.holding() > len(k.contents)-read.Needed {
			k.state, k.why = unknownState, "masters hold different values, none of them a quorum; nobody gets it until it ends on some"
		}
		return k
	}
	k.state = heldState
	k.value = content{typ: read.Type}
	if k.left = -1; read.TTL != quorum.NoTTL {
		k.left = read.TTL.Milliseconds()
	}
	for i := range k.contents {
		c, n := &k.contents[i], 0
		for j := range k.contents {
			if c.same(&k.contents[j]) {
				n++
			}
		}
		if n >= read.Needed && c.typ == read.Type {
			k.value = *c
		}
	}
	return k
}

// holding is how many masters hold something.
func (k *lockState) holding() (n int) {
	for i := range k.contents {
		if c := &k.contents[i]; c.given && c.typ != "none" {
			n++
		}
	}
	return n
}

// ends is what is left of its ttl, as the registry counts.
func (k *lockState) ends() time.Duration {
	if k.left < 0 {
		return registry.NoTTL
	}
	return time.Duration(k.left) * time.Millisecond
}

// signs are those by which the holder of what is there may be found.
func (k *lockState) signs() []registry.Sign {
	var list []registry.Sign
	for _, part := range k.value.parts {
		list = append(list, registry.SignOf(part))
	}
	return list
}

// fingerprint names the holder; "" where the value is not known.
func (k *lockState) fingerprint() string {
	if k.state != heldState || len(k.value.parts) == 0 {
		return ""
	}
	return registry.Fingerprint(k.value.parts...)
}

// onMasters tells for each master what it has of the key.
func (k *lockState) onMasters(names []string) []Reply {
	var pairs []Reply
	for i := range k.contents {
		c, word := &k.contents[i], ""
		switch {
		case c.why != "":
			word = "error: " + c.why
		case !c.given && k.unheard:
			word = "not known"
		case !c.given:
			word = "no answer"
		case c.typ == "none":
			word = "nothing"
		case k.state == heldState && c.same(&k.value):
			word = "holds it"
		case k.state == heldState:
			word = "another value"
		case k.unread:
			word = "a value, it is not known whether a quorum holds it"
		default:
			word = "a value that no quorum holds"
		}
		if i < len(names) {
			pairs = append(pairs, Bulk(names[i]), Bulk(word))
		}
	}
	return pairs
}

// grantedBy names the masters that granted.
func grantedBy(v quorum.Votes, names []string) (list []string) {
	for i, name := range names {
		if v.Of(i) == quorum.Granted {
			list = append(list, name)
		}
	}
	return list
}

// votesText is each master's vote: "m1 granted, m2 refused, m3 not heard".
func votesText(v quorum.Votes, names []string) string {
	if v == 0 {
		return ""
	}
	words := make([]string, len(names))
	for i, name := range names {
		word := "not heard"
		if vote := v.Of(i); vote != 0 {
			word = vote.String()
		}
		words[i] = name + " " + word
	}
	return strings.Join(words, ", ")
}
