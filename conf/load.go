package conf

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Source is where a value is from. A greater one counts before a smaller one.
type Source uint8

// The sources, the weakest first.
const (
	Default     Source = iota + 1 // no source names the option
	File                          // the TOML file of the option config
	Environment                   // a variable REDLOCK_PROXY_…
	Flag                          // the command line
	Order                         // CONFIG SET, while the proxy runs
)

// String is the source as the subcommand check shows it.
func (s Source) String() string {
	switch s {
	case Default:
		return "default"
	case File:
		return "file"
	case Environment:
		return "environment"
	case Flag:
		return "flag"
	case Order:
		return "order"
	}
	return "unknown"
}

// Origin is the source of one value, and the place in it: a flag, a variable,
// or a file and line.
type Origin struct {
	Source Source
	Place  string // "" for a default
	over   string // of an Order, the flag or variable that counts again when the proxy is restarted
}

// replaced is the origin of what CONFIG SET has put in the place of a value.
func (o Origin) replaced() Origin {
	over := o.over
	if o.Source == Flag || o.Source == Environment {
		over = o.Place
	}
	return Origin{Order, "CONFIG SET", over}
}

// String is what the subcommand check prints beside a value.
func (o Origin) String() string {
	if o.Place == "" {
		return o.Source.String()
	}
	return o.Source.String() + " " + o.Place
}

// Config is a configuration that was found right.
type Config struct {
	Command Command
	Help    string // what to print if Command is ShowHelp; nothing else is set then

	Options
	From map[string]Origin // of every option, by its name

	Listeners     []Address     // of Options.Listen
	TLSListeners  []Address     // of Options.TLSListen
	Admin         Address       // of Options.AdminListen, or what it is by itself; no Network if there is none
	AdminByItself bool          // Admin was not asked for
	Masters       []Master      // of Options.Master, with their credentials
	Traces        string        // of Options.TraceEndpoint: where they are sent; "" if there is none
	OldMasters    []Master      // of change-masters, with their credentials
	old           []string      // the same as written
	EvenSo        bool          // of change-masters: go on although proxies are there
	NoLocksHeld   bool          // of bootstrap: let the masters vote at once
	JSON          bool          // of doctor and status: print for machines
	Watch         bool          // of status: print again and again
	Shell         string        // of completion: one of Shells
	Wait          time.Duration // of bootstrap: for masters that cannot be reached yet
	Password      Secret        // what clients must AUTH with, whichever option it is from

	// Users are those of Options.User or of the file of Options.ACLFile, a line each that begins with
	// the word user. What is right in it is not for this package to say.
	Users Secret

	// ServerTLS is nil without a TLS listener, MasterTLS without a TLS master.
	// The caller must not change them; MasterTLS has no ServerName if each
	// master's certificate is to carry its own host.
	ServerTLS, MasterTLS *tls.Config

	// Warnings are about what is right and may be a mistake, a line each, without a password.
	Warnings []string

	contents map[string][sha256.Size]byte // digests of the files that options name
}

// Load reads the arguments (without the program's name), the environment in
// the form of os.Environ, and the file that they name. The error is Problems.
func Load(args, environ []string) (*Config, error) {
	cl := parseArgs(args)
	c := &Config{Command: cl.command, Help: cl.help, From: map[string]Origin{}, contents: map[string][sha256.Size]byte{}}
	problems := cl.problems
	switch {
	case c.Command == ShowHelp:
		return c, nil
	case c.Command == Completion:
		c.chooseShell(cl.values["shell"], &problems)
	}
	if !c.Command.Configured() {
		return c, problems.err()
	}
	env := c.readEnvironment(environ)
	file, fileLines := c.readFile(cl.values, env, &problems)
	for i := range options {
		o := &options[i]
		texts := []string{o.def}
		from := Origin{Source: Default}
		if v, ok := file[o.name]; ok {
			texts, from = v, Origin{Source: File, Place: fileLines[o.name]}
		}
		if v, ok := env[o.name]; ok {
			texts, from = v, Origin{Source: Environment, Place: o.env}
		}
		if v, ok := cl.values[o.name]; ok {
			texts, from = v, Origin{Source: Flag, Place: "--" + o.name}
		}
		c.From[o.name] = from
		v, problem := o.value(texts)
		if problem != nil {
			problem.Where = c.where(o.name)
			problems = append(problems, *problem)
			v, _ = o.value([]string{o.def})
		}
		reflect.ValueOf(&c.Options).Elem().Field(o.field).Set(v)
	}
	c.old = splitList(cl.values["from"])
	c.EvenSo = slices.Contains(cl.given, "even-so")
	c.JSON = slices.Contains(cl.given, "json")
	c.Watch = slices.Contains(cl.given, "watch")
	c.NoLocksHeld = slices.Contains(cl.given, "no-locks-held")
	if texts := cl.values["wait"]; texts != nil {
		wait := option{min: "0", max: "24h"}
		d, problem := wait.duration(texts[len(texts)-1])
		if problem != nil {
			problem.Where = "--wait"
			problems = append(problems, *problem)
		}
		c.Wait = d
	}
	c.check(&problems)
	c.warnOfShownPasswords(cl.values)
	c.warnOfShownFile()
	return c, problems.err()
}

// readEnvironment takes the options out of the environment. A variable that is
// empty is not set: that is how compose files and unit files leave one out.
func (c *Config) readEnvironment(environ []string) map[string][]string {
	values := map[string][]string{}
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, envPrefix)
		if !ours || text == "" {
			continue
		}
		key := strings.ToLower(strings.ReplaceAll(rest, "_", "-"))
		if o := lookup(key); o != nil && o.env == name {
			values[key] = []string{text}
		} else if !setByKubernetes(rest) {
			c.warn("the variable %s is no option; %s", name, suggestion(key))
		}
	}
	return values
}

// setByKubernetes recognises the variables that every container gets for a
// service that is called redlock-proxy.
func setByKubernetes(rest string) bool {
	return rest == "PORT" || strings.HasPrefix(rest, "PORT_") || strings.HasPrefix(rest, "SERVICE_")
}

// readFile reads the file that the flags or else the environment name, and
// gives the place of each key in it.
func (c *Config) readFile(flags, env map[string][]string, problems *Problems) (values map[string][]string, places map[string]string) {
	path := ""
	for _, source := range []map[string][]string{env, flags} {
		if v, ok := source["config"]; ok {
			path = v[len(v)-1]
		}
	}
	if path == "" {
		return nil, nil
	}
	values, lines, found := readFile(path)
	*problems = append(*problems, found...)
	places = map[string]string{}
	for name, line := range lines {
		places[name] = path
		if line > 0 {
			places[name] = fmt.Sprintf("%s line %d", path, line)
		}
	}
	return values, places
}

// where names an option and the source of its value, for problems.
func (c *Config) where(name string) string {
	from := c.From[name]
	switch from.Source {
	case Flag:
		return from.Place
	case Environment:
		return from.Place
	case File:
		return from.Place + ": " + name
	}
	return name
}

// named says whether any source names the option.
func (c *Config) named(name string) bool { return c.From[name].Source > Default }

// given says whether the option has another value than its default. Writing a
// default down changes nothing.
func (c *Config) given(name string) bool {
	o := lookup(name)
	def, _ := o.value([]string{o.def})
	return !reflect.DeepEqual(reflect.ValueOf(c.Options).Field(o.field).Interface(), def.Interface())
}

func (c *Config) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}
