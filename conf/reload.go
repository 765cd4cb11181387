package conf

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Reload is what running becomes when next has been read while it is in use:
// the options that may change do, the others stay as they are. live and
// restart name the options that differ, of the first and of the second kind. An option
// that names a file differs also where that holds something else.
//
// A password that next takes away is refused if a listener that stays open
// depends on it: next may have moved that listener, but it has not moved yet.
func Reload(running, next *Config) (merged *Config, live, restart []string, err error) {
	m := *running
	m.From, m.contents = map[string]Origin{}, maps.Clone(running.contents)
	from, to := reflect.ValueOf(next.Options), reflect.ValueOf(&m.Options).Elem()
	for i := range options {
		o := &options[i]
		m.From[o.name] = running.From[o.name]
		old, fresh := to.Field(o.field), from.Field(o.field)
		if reflect.DeepEqual(old.Interface(), fresh.Interface()) && running.contents[o.name] == next.contents[o.name] {
			continue
		}
		if !o.applies(running, next) {
			restart = append(restart, o.name)
			continue
		}
		live = append(live, o.name)
		old.Set(fresh)
		m.From[o.name], m.contents[o.name] = next.From[o.name], next.contents[o.name]
	}
	m.Password = next.Password
	if sameMasters(running.Masters, next.Masters) {
		m.Masters, m.MasterTLS = next.Masters, next.MasterTLS
	}
	if running.ServerTLS != nil && next.ServerTLS != nil {
		m.ServerTLS = next.ServerTLS
	}
	if m.ProtectedMode == "yes" {
		if p := m.exposed(); p != nil {
			return nil, nil, nil, Problems{{p.Where, p.What + " until the restart", "keep the password, or restart"}}
		}
	}
	m.Warnings = next.Warnings
	return &m, live, restart, nil
}

// applies says whether a change of the option can take effect at once. What
// belongs to a listener or a master has to wait with it.
func (o *option) applies(running, next *Config) bool {
	switch {
	case strings.HasPrefix(o.name, "master"):
		return sameMasters(running.Masters, next.Masters)
	case strings.HasPrefix(o.name, "tls-"):
		return o.live && running.ServerTLS != nil && next.ServerTLS != nil
	}
	return o.live
}

// sameMasters says whether both are the same servers in the same order, their
// passwords apart.
func sameMasters(a, b []Master) bool {
	return slices.EqualFunc(a, b, func(a, b Master) bool {
		return a.identity() == b.identity() && a.TLS == b.TLS && a.Name() == b.Name()
	})
}
