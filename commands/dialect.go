package commands

import "time"

// Options is what the dialect has to know of the configuration.
type Options struct {
	// Version is the version of Redis that clients are told: digits.digits.digits.
	Version string

	// Password gives the password that clients must AUTH with; "" means that
	// none is needed. It is called for each AUTH, so that it can change.
	Password func() string

	// MaxTTL and RefuseOverMaxTTL: whether a ttl longer than MaxTTL, or none,
	// is refused with an error that names the option over-max-ttl.
	MaxTTL           time.Duration
	RefuseOverMaxTTL bool

	// Settings is what CONFIG GET tells, by Redis's names.
	Settings map[string]string
}
