package commands

import (
	"crypto/sha1"
	"fmt"
	"slices"

	"redlock-proxy/quorum"
)

func (s *Session) scriptLoad(c *Command, args []string) Action {
	sc := s.d.scripts.enter(args[2])
	if sc.fault != "" {
		return refusef("%s", sc.fault)
	}
	return Action{Reply: Bulk(sc.sha)}
}

func (s *Session) scriptExists(c *Command, args []string) Action {
	return Action{Reply: Array(describeAll(args[2:], func(sha string) Reply {
		return truth(s.d.scripts.find(sha) != nil)
	})...)}
}

func (s *Session) scriptFlush(c *Command, args []string) Action {
	mode := "sync"
	if len(args) == 3 {
		mode = lower(args[2])
	}
	if len(args) > 3 || mode != "sync" && mode != "async" {
		return refuse(errScriptFlush)
	}
	s.d.scripts.flush()
	return Action{Reply: OK}
}

func (s *Session) scriptKill(c *Command, args []string) Action { return refuse(errScriptKill) }

// eval is EVAL and EVALSHA, and what may only read of both.
func (s *Session) eval(c *Command, args []string) Action {
	call, text := s.scriptCalled(c, args)
	if text != "" {
		return refuse(text)
	}
	call.tells = len(s.tracked(c, args)) > 0
	return s.run(call)
}

// scriptCalled is what a command calls, or text says why there is nothing. What cannot be a SHA-1 is NOSCRIPT before
// anything else, as in Redis.
func (s *Session) scriptCalled(c *Command, args []string) (call *scriptCalled, text string) {
	bySHA := c.Name == "evalsha" || c.Name == "evalsha_ro"
	if bySHA && len(args[1]) != 2*sha1.Size {
		return nil, errNoScript
	}
	keys, argv, text := splitKeys(args)
	if text != "" {
		return nil, text
	}
	call = &scriptCalled{keys: keys, argv: argv, reads: c.HasFlag("readonly"), confined: s.judged != nil && s.judged.confined}
	if !bySHA {
		call.sc = s.d.scripts.enter(args[1])
	} else if call.sc = s.scriptNamed(args[1]); call.sc == nil {
		return nil, errNoScript
	}
	return call, ""
}

// scriptNamed is the script of a name: the one that the user was found to be allowed, if that was looked at.
func (s *Session) scriptNamed(sha string) *script {
	if s.judged != nil {
		return s.judged.script
	}
	return s.d.scripts.find(sha)
}

// splitKeys parts what follows the script into KEYS and ARGV, or says what is
// wrong with it.
func splitKeys(args []string) (keys, argv []string, text string) {
	n, ok := parseInt(args[2])
	rest := args[3:]
	switch {
	case !ok:
		return nil, nil, errNotInteger
	case n > int64(len(rest)):
		return nil, nil, errTooManyKeys
	case n < 0:
		return nil, nil, errNegativeKeys
	}
	return rest[:n], rest[n:], ""
}

// run makes a call that is recognised, and has any other journaled by the masters. An acquire tells nothing of who has
// what it finds, so that whoever is to be told when that changes has the script journaled, too, which reads it.
func (s *Session) run(c *scriptCalled) Action {
	sc := c.sc
	switch {
	case sc.fault != "":
		return refusef("%s", sc.fault)
	case c.reads && sc.shebang.there && !sc.shebang.reads:
		return refuse(errShebangWrites)
	}
	known := sc.known && !c.reads && !(c.tells && sc.shape.Class == quorum.Acquire)
	c.reads = c.reads || sc.shebang.reads
	if known {
		if call, ok := newCall(sc, c.keys, c.argv); ok {
			return call.action(s)
		}
	}
	run := sc.journaled
	if c.reads {
		run = run.ReadOnly()
	}
	if c.confined {
		run = run.Confined()
	}
	return journal(sc, run, c.keys, c.argv)
}

// journal runs a script on the masters.
func journal(sc *script, run *quorum.Script, keys, argv []string) Action {
	r := quorum.Request{Kind: quorum.Run, Script: run, Keys: slices.Clone(keys), Args: slices.Clone(argv)}
	if len(keys) > 0 {
		r.Key = keys[0]
	}
	return Action{Requests: []quorum.Request{r}, Render: journaled{sc}, Frees: run.Frees}
}

// journaled renders what the masters answered to a script.
type journaled struct{ sc *script }

func (j journaled) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failure(r); failed {
		return text, Action{}
	}
	if line := r.Script.Line; line > 0 {
		return Error(fmt.Sprintf("%s script: %s, on @user_script:%d.", r.Script.Str, j.sc.sha, line)), Action{}
	}
	return scriptReply(*r.Script), Action{}
}
