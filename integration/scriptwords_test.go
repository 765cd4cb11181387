package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Redis takes what is no number for 0, which is REPL_NONE, and of 3.5 the 3. A master that keeps
// a lock from its disk forgets it in a crash, and how long a reply is cannot be told where RESP3
// has another form for it.
func TestScriptsNeitherKeepAWriteFromTheDiskNorChooseAProtocol(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	p := startProxy(t, flags(masters)...)
	one := dial(t, startMasters(t, 1)[0].Addr)
	c := dial(t, p.Addr)
	var written []string
	for _, name := range []string{"set_repl", "setresp", "log"} {
		for _, value := range []string{
			"redis.REPL_NONE", "redis.REPL_AOF", "redis.REPL_ALL", "nil", "true", "'x'", "''", "{}", "function() end", "-0.5", "-0", "-1", "0.9", "1", "1.9", "2", "'2'", "'2.5'", "'0x3'",
			"3", "3.5", "'3.5'", "' 3e0 '", "3.999999999", "4", "2^31", "2^32", "2^32+3", "-2^32", "1e300", "1/0", "-1/0", "0/0", "'nan'", "('3'):rep(250)", "", "3, 3", "nil, nil", "{}, {}",
		} {
			chosen := "redis." + name + "(" + value + ")"
			if name == "log" && value != "" {
				chosen = "redis.log(" + value + ", 'a message')"
			}
			begin := "local ok = pcall(function() " + chosen + " end) "
			want := fmt.Sprintf("[%v 2 nil]", one.do("EVAL", begin+"return tostring(ok)", "0"))
			key := fmt.Sprint("written ", len(written))
			text := begin + "redis.call('hset', KEYS[1], 'f', 'v') local r = redis.call('hgetall', KEYS[1]) return {tostring(ok), #r, tostring(r.map)}"
			if got := fmt.Sprint(c.do("EVAL", text, "1", key)); got != want {
				t.Errorf("%s is answered %s, want %s", text, got, want)
			}
			written = append(written, chosen)
		}
	}
	for _, m := range masters {
		// One of them may be behind the others, and what was sent to it first is there first.
		eventually(t, func() error {
			if ask(t, m, "EXISTS", fmt.Sprint("written ", len(written)-1)) != int64(1) {
				return errors.New("a master has not carried out all that was written")
			}
			return nil
		})
		must(t, m.Kill())
		must(t, m.Restart())
		for i, chosen := range written {
			if ask(t, m, "EXISTS", fmt.Sprint("written ", i)) != int64(1) {
				t.Errorf("a master has not kept what was written after %s", chosen)
			}
		}
	}
}

// What a script may name is what Redis has by that name.
func TestNamesOfAScriptAreThoseOfRedis(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, unhurried...)
	direct := dial(t, startMasters(t, 1)[0].Addr)
	c := dial(t, p.Addr)
	names := strings.Fields(`assert error ipairs next pairs pcall select tonumber tostring type unpack
		bit.arshift bit.band bit.bnot bit.bor bit.bswap bit.bxor bit.lshift bit.rol bit.ror bit.rshift bit.tobit bit.tohex
		cjson.decode cjson.encode cjson.null cmsgpack.pack cmsgpack.unpack
		math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos math.cosh math.deg math.exp math.floor math.fmod math.frexp
		math.huge math.ldexp math.log math.log10 math.max math.min math.mod math.modf math.pi math.pow math.rad math.random
		math.randomseed math.sin math.sinh math.sqrt math.tan math.tanh
		redis.call redis.error_reply redis.log redis.pcall redis.replicate_commands redis.set_repl redis.setresp redis.sha1hex redis.status_reply
		redis.LOG_DEBUG redis.LOG_NOTICE redis.LOG_VERBOSE redis.LOG_WARNING redis.REDIS_VERSION redis.REDIS_VERSION_NUM
		redis.REPL_ALL redis.REPL_AOF redis.REPL_NONE redis.REPL_REPLICA redis.REPL_SLAVE
		string.byte string.char string.find string.format string.gmatch string.gsub string.len string.lower string.match string.rep
		string.reverse string.sub string.upper struct.pack struct.size struct.unpack
		table.concat table.foreach table.foreachi table.getn table.insert table.maxn table.remove table.sort
		string.nosuch redis.nosuch math.nosuch`)
	for _, name := range names {
		if servers.Mixed() && strings.HasPrefix(name, "redis.REDIS_VERSION") {
			continue // each master has its own, and so there is no answer that two agree on
		}
		text := "return {type(" + name + "), type(" + name + ") == 'number' and tostring(" + name + ") or ''}"
		want := fmt.Sprint(direct.do("EVAL", text, "0"))
		for range 6 {
			if got := fmt.Sprint(c.do("EVAL", text, "0")); got != want {
				t.Errorf("%s is %s, on one Redis %s", name, got, want)
			}
		}
	}
}
