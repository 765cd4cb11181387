package conf

import (
	"strings"
	"time"
)

// Command is what the program is asked to do.
type Command uint8

const (
	Serve         Command = iota + 1 // serve clients; what a command line without a subcommand means
	Demo                             // serve on masters that can be broken
	Check                            // say whether the configuration is right, and what it is
	Doctor                           // say what is wrong with the masters and this machine
	Status                           // say how the proxy of this configuration stands
	Ping                             // say whether it lives
	Ready                            // say whether it can take locks
	Bootstrap                        // mark a new set of masters
	ChangeMasters                    // make a new set of masters of an old one
	ShowVersion                      // print the version
	Completion                       // print what completes command lines in a shell
	Man                              // print the manual page
	ShowHelp                         // print the help; the last, as it is no subcommand
)

// words are the subcommands, or else the flags, that ask for each.
var words = map[Command]string{
	Serve: "serve", Demo: "demo", Check: "check", Doctor: "doctor", Status: "status", Ping: "ping", Ready: "ready",
	Bootstrap: "bootstrap", ChangeMasters: "change-masters", ShowVersion: "version", Completion: "completion", Man: "man", ShowHelp: "--help",
}

// String is the word or flag that asks for it.
func (c Command) String() string {
	if word, ok := words[c]; ok {
		return word
	}
	return "unknown"
}

// commandOf is the command of a subcommand's name, and of what kong puts behind that: its arguments.
func commandOf(name string) Command {
	name, _, _ = strings.Cut(name, " ")
	for c, word := range words {
		if word == name {
			return c
		}
	}
	return Serve
}

// commandNames are the subcommands.
func commandNames() (names []string) {
	for c := Serve; c < ShowHelp; c++ {
		names = append(names, c.String())
	}
	return names
}

// Configured tells that a command needs a configuration.
func (c Command) Configured() bool { return c < ShowVersion }

// asks tells that a command asks others and opens nothing. It may be given without all the flags
// of the process that it asks, as a health check is.
func (c Command) asks() bool { return c == Ping || c == Ready || c == Status || c == Doctor }

// grammar is the whole command line.
type grammar struct {
	Options `embed:""`
	Show    bool     `name:"version" help:"Print the version and exit."`
	Serve   struct{} `cmd:"" default:"withargs" help:"Serve clients. This is what happens if no command is named."`
	Demo    struct{} `cmd:"" help:"Serve on embedded masters that can be killed, started anew, frozen and have their clocks set from the page, with some clients that lock, and say what to try. For seeing how it behaves: nothing is kept. Unless they are named, max-ttl is 30s, and the user default may do everything."`
	Check   struct{} `cmd:"" help:"Check the configuration, print what it comes to and where each value is from, and exit: 0 if it is right, 78 if not. Passwords are not printed."`
	Doctor  struct {
		JSON bool `name:"json" help:"Print the findings as JSON."`
	} `cmd:"" help:"Look at the masters of this configuration and at this machine, tell what is wrong, what that means for locks, and the cure, and exit: 0 if nothing is, 1 if what is wrong costs something, 2 if a master has no vote by it or locks can be lost or given twice. It changes nothing, and takes two seconds or so."`
	Status struct {
		JSON  bool `name:"json" help:"Print it as JSON, a line each time."`
		Watch bool `name:"watch" help:"Print it once a second, until it is ended."`
	} `cmd:"" help:"Ask the proxy of this configuration how it and the masters stand, and exit: 0 if it grants locks, 1 if not. Where its client port does not say, its admin listener is asked."`
	Ping      struct{} `cmd:"" help:"Ask the proxy of this configuration for a sign of life, and exit: 0 if it answers, 1 if not. For health checks."`
	Bootstrap struct {
		NoLocksHeld bool          `name:"no-locks-held" help:"Let the masters vote at once. It is your word that nobody holds a lock on them: else it can be given a second time."`
		Wait        time.Duration `name:"wait" placeholder:"DURATION" help:"How long to wait for masters that cannot be reached yet."`
	} `cmd:"" help:"Mark the masters of this configuration as its set, and exit: 0 if it is done or a master of the set votes, 1 if not, 78 if they are a set of another configuration. It keeps what stands and completes what lacks, so it can be repeated, by an init job too. The masters vote when proxies have seen max-ttl pass, as they do without bootstrap where they are new and hold no key; --no-locks-held spares the wait. All proxies of the set need the same masters, acquire-timeout and max-ttl."`
	ChangeMasters struct {
		From   []string `name:"from" placeholder:"ADDRESS" help:"One master of the set as it was, written like master, and with the name it had there. Repeatable; name all of them."`
		EvenSo bool     `name:"even-so" help:"Go on although proxies are connected to the old set's masters. They grant nothing more then."`
	} `cmd:"" help:"Make the masters of this configuration the set that those named by --from were, and exit: 0 if it is done, 1 if not. Every lock that is held stays held. Stop all proxies before, and start those of the new set when it is done. It can be ordered again if it was ended on the way, and then must be."`
	Ready      struct{} `cmd:"" help:"Ask the proxy of this configuration whether a quorum of masters can vote and it is not shutting down, and exit: 0 if so, 1 if not. For readiness checks."`
	Version    struct{} `cmd:"" help:"Print the version, the revision that it was built from, Go's version and the platform."`
	Completion struct {
		Shell string `arg:"" help:"bash, zsh or fish."`
	} `cmd:"" help:"Print what completes command lines of this program in a shell: bash, zsh or fish."`
	Man struct{} `cmd:"" help:"Print the manual page, as man reads it."`
}

const description = `A lock proxy: it speaks the Redis protocol, puts every lock command to all masters, and answers what a quorum of them decided.

Every option is a flag (--max-ttl), a variable (` + envPrefix + `MAX_TTL) and a key of the TOML file (max-ttl); a flag counts before a variable, a variable before the file. Durations are written with a unit: 250ms, 10s, 5m. Options marked (SIGHUP) are read again when the process gets that signal.`
