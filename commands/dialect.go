package commands

import (
	"sync/atomic"
	"time"

	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// Options is what the dialect has to know of the configuration.
type Options struct {
	// Version is the version of Redis that clients are told: digits.digits.digits.
	Version string

	// Password gives the password that clients must AUTH with; "" means that
	// none is needed. It is called for each AUTH, so that it can change.
	// Nil: no password.
	Password func() string

	// MaxTTL and RefuseOverMaxTTL: whether a ttl longer than MaxTTL, or none,
	// is refused with an error that names the option over-max-ttl. Without
	// RefuseOverMaxTTL none is, and MaxTTL is not looked at.
	MaxTTL           time.Duration
	RefuseOverMaxTTL bool

	// Now is the masters' time, by which RefuseOverMaxTTL judges an expiry that
	// is given as a time of day, if that is known. Nil: such an expiry is not judged.
	Now func() (now time.Time, known bool)

	// Users are lines that SetUsers takes, and that CheckUsers found right. Without one of his the user
	// default may do everything but what @operate is.
	Users string

	// ScriptBounds is what one call of a client's script may cost a master. The zero value
	// is quorum.DefaultBounds.
	ScriptBounds quorum.Bounds

	// Lookout is what the server has seen. Nil: nothing.
	Lookout Lookout

	// Settings gives what CONFIG GET tells, by names in lower case, for each call anew. Nil:
	// nothing.
	Settings func() map[string]string
}

// Dialect is what all sessions share. Its methods may be called by any number of
// goroutines.
type Dialect struct {
	options Options
	lookout Lookout
	scripts *scriptTable
	mixes   mixes
	scans   scans
	maxKeys int // listed by KEYS
	right   atomic.Pointer[digested]

	users *acl.Users
}

// NewDialect makes the dialect of a server. There is one Dialect for all connections of a
// server, which share the scripts that they have loaded; it needs no end.
func NewDialect(o Options) *Dialect {
	if o.ScriptBounds == (quorum.Bounds{}) {
		o.ScriptBounds = quorum.DefaultBounds
	}
	if o.Lookout == nil {
		o.Lookout = nobody{registry.New(0)}
	}
	d := &Dialect{
		users:   acl.NewUsers(catalogue(), standardUser()),
		options: o,
		lookout: o.Lookout,
		scripts: newScriptTable(maxScripts, maxScriptBytes, o.ScriptBounds),
		mixes:   mixes{bounds: o.ScriptBounds},
		maxKeys: maxKeys,
	}
	if _, err := d.SetUsers(o.Users); err != nil {
		panic("commands: users that were found right: " + err.Error())
	}
	return d
}

// Memory is about how many bytes are remembered for all clients: scripts, and what scans
// have listed.
func (d *Dialect) Memory() int {
	_, bytes := d.scripts.kept()
	return bytes + d.scans.memory()
}

// Scripts is how many scripts clients have loaded or run that are kept, and about how many bytes they take.
func (d *Dialect) Scripts() (number, bytes int) { return d.scripts.kept() }

func (d *Dialect) password() string {
	if d.options.Password == nil {
		return ""
	}
	return d.options.Password()
}
