package conf

import (
	"fmt"
	"strings"
)

// Manual is the manual page of this version, as roff.
func Manual(version string) string {
	m := &manual{}
	m.raw(fmt.Sprintf(`.TH REDLOCK\-PROXY 1 "" "redlock\-proxy %s" "User commands"`, roff(version)))
	m.section("NAME", `redlock\-proxy \- lock server for Redis clients over independent Redis masters`)
	m.section("SYNOPSIS", `\fBredlock\-proxy\fR [\fIcommand\fR] [\fIoption\fR ...]`)
	m.section("DESCRIPTION")
	for part := range strings.SplitSeq(description, "\n\n") {
		m.raw(".PP", roff(part))
	}
	m.section("COMMANDS")
	for _, c := range toldCommands() {
		title := `\fB` + roff(c.name) + `\fR`
		if c.words != nil {
			title += ` \fI` + roff(strings.Join(c.words, "|")) + `\fR`
		}
		m.raw(".TP", title, roff(c.help))
		if len(c.flags) > 0 {
			m.raw(".RS")
			for _, f := range c.flags {
				m.flag(f, f.help)
			}
			m.raw(".RE")
		}
	}
	m.section("OPTIONS")
	m.flag(toldFlag{name: "help"}, "Print the help, of a command too, and exit.")
	m.flag(toldFlag{name: "version"}, "Print the version and exit.")
	for _, g := range groups {
		m.raw(".SS " + roff(g.title))
		for i := range options {
			if o := &options[i]; o.group == g.key {
				m.flag(toldFlag{name: o.name, placeholder: o.placeholder}, helpOf(o))
			}
		}
	}
	m.section("ENVIRONMENT", roff("Each option is a variable as well: "+envPrefix+"MAX_TTL for --max-ttl. One that is empty is not set. GOMEMLIMIT bounds what the process takes, GOMAXPROCS the processors that it uses. Those of OpenTelemetry that begin with OTEL_EXPORTER_OTLP_ say what a collector is to be told."))
	m.section("SIGNALS")
	m.raw(".TP", `\fBSIGTERM\fR, \fBSIGINT\fR`, roff("End: what was asked is answered, what is owed to masters is paid, within shutdown-timeout. A second one ends the process at once."))
	m.raw(".TP", `\fBSIGHUP\fR`, roff("Read the options again that are marked so."))
	m.section("EXIT STATUS")
	for _, e := range exits {
		m.raw(".TP", `\fB`+e.code+`\fR`, roff(e.means))
	}
	m.section("EXAMPLES")
	for _, e := range examples {
		m.raw(".PP", roff(e.does), ".PP", ".nf", ".RS", roff(e.line), ".RE", ".fi")
	}
	m.section("SEE ALSO", `\fBredis\-server\fR(1), \fBredis\-cli\fR(1)`)
	return m.text.String()
}

// exits are the codes that all commands share; what doctor has besides, its help tells.
var exits = []struct{ code, means string }{
	{"0", "It is done, or what was asked for is so."},
	{"1", "It is not. Of doctor: something costs what it need not."},
	{"2", "Of doctor: a master has no vote as it is, or locks can be lost or given twice."},
	{"78", "The configuration is wrong, or not the masters': starting again does not help."},
}

var examples = []struct{ does, line string }{
	{"Try it out, with masters in the process:", "redlock-proxy"},
	{"Begin with three new masters:", "redlock-proxy bootstrap --no-locks-held --master a:6379 --master b:6379 --master c:6379"},
	{"Serve, by a file:", "redlock-proxy --config /etc/redlock-proxy.toml"},
	{"See whether masters are fit for it:", "redlock-proxy doctor --config /etc/redlock-proxy.toml"},
}

type manual struct{ text strings.Builder }

func (m *manual) raw(lines ...string) { m.text.WriteString(strings.Join(lines, "\n") + "\n") }

func (m *manual) section(title string, lines ...string) {
	m.raw(append([]string{".SH " + title}, lines...)...)
}

func (m *manual) flag(f toldFlag, help string) {
	title := `\fB\-\-` + roff(f.name) + `\fR`
	if f.placeholder != "" {
		title += `=\fI` + roff(f.placeholder) + `\fR`
	}
	m.raw(".TP", title, roff(help))
}

// roff is a text as it stands in a page: nothing of it is an order, or another character than it is.
func roff(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case (r == '.' || r == '\'') && (i == 0 || text[i-1] == '\n'):
			b.WriteString(`\&` + string(r))
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '…': // which not every terminal has, and man warns of
			b.WriteString("...")
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
