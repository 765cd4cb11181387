package main

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/conf"
	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/engine"
	"redlock-proxy/quorum/master"
)

// engineConfig says in the engine's words what is configured. Passwords and
// certificates are those of live at each connection.
func engineConfig(cfg *conf.Config, masters []master.Master) engine.Config {
	return engine.Config{
		Set: master.Set{
			Masters:        masters,
			AcquireTimeout: cfg.AcquireTimeout,
			MaxTTL:         cfg.MaxTTL,
			ConnectTimeout: cfg.ConnectTimeout,
			MasterTimeout:  cfg.MasterTimeout,
			ProbeInterval:  cfg.ProbeInterval,
		},
		MaxHold:      cfg.MaxHold,
		SplitRetries: cfg.SplitRetries,
		SplitDelay:   cfg.SplitDelay,
		FirstStart:   cfg.FirstStart == "yes",
		Memory:       clientMemory(cfg),
	}
}

// configuredMasters are the masters of live, which is never stored with others
// or in another order.
func configuredMasters(live *atomic.Pointer[conf.Config]) []master.Master {
	var masters []master.Master
	for i, m := range live.Load().Masters {
		q := master.Master{
			Name:    m.Name(),
			Network: m.Network,
			Address: m.Address.Address,
			Credentials: func() (user, password string) {
				m := live.Load().Masters[i]
				return m.User, string(m.Password)
			},
		}
		if m.TLS {
			q.TLS = func() *tls.Config {
				c := live.Load().MasterTLS.Clone()
				if c.ServerName == "" {
					c.ServerName = m.Host()
				}
				return c
			}
		}
		masters = append(masters, q)
	}
	return masters
}

func serverConfig(cfg *conf.Config, live *atomic.Pointer[conf.Config], maxClients int, now func() (time.Time, bool)) proxy.Config {
	return proxy.Config{
		Commands: commands.Options{
			Version:          cfg.RedisVersion,
			Password:         func() string { return string(live.Load().Password) },
			MaxTTL:           cfg.MaxTTL,
			RefuseOverMaxTTL: cfg.OverMaxTTL == "refuse",
			Users:            string(cfg.Users),
			ScriptBounds:     quorum.Bounds{Steps: cfg.ScriptSteps, Memory: cfg.ScriptMemory},
			Now:              now,
			Settings:         func() map[string]string { return settings(live.Load(), maxClients) },
		},
		Tuning:          tuning(cfg),
		AcquireWait:     cfg.AcquireWait,
		MaxClients:      maxClients,
		MaxClientMemory: cfg.MaxClientMemory,
		Timeout:         cfg.Timeout,
		TCPKeepAlive:    cfg.TCPKeepalive,
		ProgramVersion:  programVersion(),
		ConfigFile:      cfg.Config,
	}
}

// tuning is what a running server can be told anew.
func tuning(cfg *conf.Config) proxy.Tuning {
	return proxy.Tuning{
		SlowerThan:       time.Duration(cfg.SlowlogSlowerThan) * time.Microsecond,
		SlowMaxLen:       cfg.SlowlogMaxLen,
		LatencyThreshold: time.Duration(cfg.LatencyMonitorThreshold) * time.Millisecond,
	}
}

// settings is what CONFIG GET tells: the options, and what redis-benchmark, drivers and
// exporters ask for, true of the proxy. Passwords are not among it. Where Redis has an option of
// the same name, it is told as Redis tells it.
func settings(cfg *conf.Config, maxClients int) map[string]string {
	told := cfg.Told()
	maps.Copy(told, map[string]string{
		"appendonly":                        "no",
		"bind":                              bind(cfg.Listeners),
		"databases":                         strconv.Itoa(quorum.Databases),
		"latency-tracking":                  "yes",
		"latency-tracking-info-percentiles": "50 99 99.9",
		"loglevel":                          cfg.LogLevel,
		"maxclients":                        strconv.Itoa(maxClients),
		"maxmemory":                         "0",
		"maxmemory-clients":                 strconv.Itoa(clientMemory(cfg)),
		"maxmemory-policy":                  "noeviction",
		"port":                              port(cfg.Listeners),
		"replica-read-only":                 "yes",
		"save":                              "",
		"slave-read-only":                   "yes",
		"tcp-keepalive":                     seconds(cfg.TCPKeepalive),
		"timeout":                           seconds(cfg.Timeout),
		"tls-port":                          port(cfg.TLSListeners),
	})
	return told
}

// isSetting tells whether CONFIG GET tells something under a name.
func isSetting(cfg *conf.Config, name string) bool {
	_, told := settings(cfg, 0)[strings.ToLower(name)]
	return told
}

// bind is Redis's list of addresses: blanks between them, * for all.
func bind(listeners []conf.Address) string {
	list := ""
	for _, a := range listeners {
		host, _, err := net.SplitHostPort(a.Address)
		if a.Network != "tcp" || err != nil {
			continue
		}
		if host == "" {
			host = "*"
		}
		if list != "" {
			list += " "
		}
		list += host
	}
	return list
}

// port is that of the first TCP listener, or 0 as in Redis.
func port(listeners []conf.Address) string {
	for _, a := range listeners {
		if _, port, err := net.SplitHostPort(a.Address); a.Network == "tcp" && err == nil {
			return port
		}
	}
	return "0"
}

// seconds rounds up, as 0 means never.
func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// inquiryTimeout is how long an operator waits for what other proxies say.
const inquiryTimeout = 500 * time.Millisecond

// inquire asks the other proxies of the same masters.
func (p *process) inquire(question string) (answers []string) {
	ctx, cancel := context.WithTimeout(context.Background(), inquiryTimeout)
	defer cancel()
	for _, a := range p.engine.Inquire(ctx, question, 0) {
		answers = append(answers, a.Text)
	}
	return answers
}
