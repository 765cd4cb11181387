package main

import (
	"errors"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
	"redlock-proxy/conf"
)

// configure carries out CONFIG SET: all that is named, or nothing. SIGHUP goes back to what flags,
// variables and file say.
func (p *process) configure(settings []commands.Setting) commands.Reply {
	p.changing.Lock()
	defer p.changing.Unlock()
	running := p.live.Load()
	list := make([]conf.Setting, len(settings))
	for i, s := range settings {
		list[i] = conf.Setting(s)
	}
	next, err := running.Set(list)
	var refused *conf.Refused
	switch {
	case err == nil:
	case !errors.As(err, &refused):
		return commands.OptionRefused(settings[0].Name, err.Error())
	case !refused.Unknown:
		return commands.OptionRefused(refused.Name, refused.Why)
	case isSetting(running, refused.Name): // one of Redis's, that says how this proxy is
		return commands.OptionRefused(refused.Name, "can't set immutable config")
	default:
		return commands.UnknownOption(refused.Name)
	}
	p.apply(next)
	for _, w := range next.Warnings {
		p.log.Warn(w)
	}
	return commands.OK
}

// rewrite carries out CONFIG REWRITE.
func (p *process) rewrite() commands.Reply {
	p.changing.Lock()
	defer p.changing.Unlock()
	next, outranked, err := p.live.Load().Rewrite()
	switch {
	case errors.Is(err, conf.ErrNoFile):
		return commands.NoConfigFile
	case err != nil:
		return commands.NotRewritten(err.Error())
	}
	p.live.Store(next)
	for _, w := range next.Warnings {
		p.log.Warn(w)
	}
	if len(outranked) > 0 {
		p.log.Warn("what was written into the configuration file does not count at the next start: these do", "instead", names(outranked))
	}
	return commands.OK
}

// apply puts a configuration in effect, as far as it can be while the proxy runs. changing is held.
func (p *process) apply(next *conf.Config) {
	p.live.Store(next)
	p.log.SetLevel(hclog.LevelFromString(next.LogLevel))
	p.server.Tune(tuning(next))
}
