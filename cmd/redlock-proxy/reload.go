package main

import (
	"os"
	"strings"

	"redlock-proxy/conf"
)

// reload reads the file and the environment again. What may change does, for
// new connections and AUTHs; a mistake changes nothing.
func (p *process) reload() {
	if p.started {
		p.tell(p.notifier.reloading())
		defer func() { p.tell(p.notifier.ready()) }()
	}
	p.audit.Reopen()
	p.changing.Lock()
	defer p.changing.Unlock()
	next, err := conf.Load(p.args, os.Environ())
	var live, restart []string
	if err == nil {
		next, live, restart, err = conf.Reload(p.live.Load(), next)
	}
	p.auditReload(live, restart, err)
	if err != nil {
		p.log.Error("the configuration is wrong and not reloaded", "error", strings.ReplaceAll(err.Error(), "\n", " | "))
		return
	}
	p.apply(next)
	p.log.Info("the options that may change are reloaded", "changed", names(live))
	for _, w := range next.Warnings {
		p.log.Warn(w)
	}
	if len(restart) > 0 {
		p.log.Warn("these options have changed and wait for a restart", "options", names(restart))
	}
}

func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, " ")
}
