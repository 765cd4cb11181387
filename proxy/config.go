package proxy

import (
	"time"

	"redlock-proxy/commands"
)

// Config is what a Server works with. The caller has checked it.
type Config struct {
	// Commands configures the dialect: the version to report, the password,
	// what CONFIG GET tells.
	Commands commands.Options

	// MaxClients is how many connections are served at once; one more gets
	// Redis's error and is closed.
	MaxClients int

	// Timeout closes a connection that sent nothing for so long. Zero: never.
	Timeout time.Duration

	// TCPKeepAlive is the interval of TCP keep-alive probes. Zero: none.
	TCPKeepAlive time.Duration

	// ProgramVersion is what INFO shows as redlock_proxy_version.
	ProgramVersion string

	// ConfigFile is the path of the configuration file, "" if there is none.
	ConfigFile string
}
