package main

import (
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// Miniredis has a database selected for redis.call or for redis.pcall, whichever a script has used
// for that, and not for the other. Scripts that write markers use both.

// selecting stands before a script, on its first line, and has both select.
const selecting = `local raw=redis local function of(f) return function(c,...) local r=f(c,...) ` +
	`if c=='SELECT' and not (type(r)=='table' and r.err) then raw.call(c,...) raw.pcall(c,...) end return r end end ` +
	`local redis=setmetatable({call=of(raw.call),pcall=of(raw.pcall)},{__index=raw}) `

// eval carries out a script that selects a database with what stands before it, and no other.
func (e *embedded) eval(p *server.Peer, args []string) (done bool) {
	if len(args) == 0 || !strings.Contains(args[0], "'SELECT'") || strings.HasPrefix(args[0], selecting) {
		return false
	}
	e.server.Dispatch(p, append([]string{"EVAL", selecting + args[0]}, args[1:]...))
	return true
}
