package proxy

import (
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/audit"
)

// Config is what a Server works with. The caller has checked it.
type Config struct {
	// Commands configures the dialect: the version to report, the password,
	// what CONFIG GET tells.
	Commands commands.Options

	// MaxClients is how many connections are served at once; one more gets
	// Redis's error and is closed. Zero: DefaultMaxClients.
	MaxClients int

	// MaxClientMemory is how many bytes all clients may take together before those that
	// take most are cut off. Zero: DefaultMaxClientMemory.
	MaxClientMemory int

	// Timeout closes a connection that sent nothing for so long, and is owed
	// nothing. Zero: never.
	Timeout time.Duration

	// AcquireWait is how long an acquire that meets a holder waits for the lock before it is refused. Zero: not
	// at all.
	AcquireWait time.Duration

	// TCPKeepAlive is the interval of TCP keep-alive probes. Zero: none.
	TCPKeepAlive time.Duration

	// Limits bounds what one client may cost. Zero fields stand for defaults.
	Limits Limits

	// Inquire asks the other proxies of the same masters, and gives what they have answered
	// within less than a second. Nil: there are none.
	Inquire func(question string) (answers []string)

	// Tuning is what Tune changes.
	Tuning Tuning

	// Configure carries out CONFIG SET, and Rewrite CONFIG REWRITE, by the goroutine of the client
	// that asks. Nil: nothing can be set, there is no file.
	Configure func([]commands.Setting) commands.Reply
	Rewrite   func() commands.Reply

	// ReadUsers gives the users as their file has them, and WriteUsers puts others into it; ok is false
	// if there is no such file. Nil: there is none.
	ReadUsers  func() (text string, ok bool, err error)
	WriteUsers func(text string) (ok bool, err error)

	// LogLost tells how many lines of the log could not be written. Nil: none.
	LogLost func() uint64

	// Audit is told of orders and of denials. Nil: nobody is.
	Audit *audit.Log

	// Tracer is told how some of the requests fared. Nil: nobody is.
	Tracer Tracer

	// ProgramVersion is what INFO shows as redlock_proxy_version.
	ProgramVersion string

	// ConfigFile is the path of the configuration file, "" if there is none.
	ConfigFile string
}

// DefaultMaxClients is Redis's maxclients.
const DefaultMaxClients = 10000

const (
	// handshakeTimeout bounds a TLS handshake: two round trips and a signature,
	// on the slowest line that a lock would still be taken over.
	handshakeTimeout = 10 * time.Second

	// closeTimeout is how long a connection that is to end waits for its
	// client to take a piece of what it is still owed.
	closeTimeout = 5 * time.Second

	// unreadTimeout is how long a client may take not one byte of what it is owed
	// while much of it waits: that of Redis's client-output-buffer-limit.
	unreadTimeout = time.Minute

	// lingerTimeout is how long input is read and thrown away before a close
	// that the client does not expect. A close with unread input resets the
	// connection, and the reset may overtake the last reply.
	lingerTimeout = 500 * time.Millisecond

	// attackLogInterval keeps a flood of HTTP requests out of the log, as
	// Redis does.
	attackLogInterval = time.Minute
)

// The back-off of an accept that fails, as it does while the process is out of
// file descriptors.
const (
	minAcceptDelay = 5 * time.Millisecond
	maxAcceptDelay = time.Second
)
