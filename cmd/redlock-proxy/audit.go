package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/conf"
	"redlock-proxy/proxy/audit"
)

// auditTimeout is how long the process stays for the last lines of the audit log.
const auditTimeout = time.Second

// openAudit opens the audit log, if there is to be one. One that cannot be opened is a mistake that
// is seen at once; what goes wrong with it later ends nothing.
func (p *process) openAudit(cfg *conf.Config, stdout, stderr io.Writer) error {
	var to audit.Sink
	closes := func() {}
	switch cfg.AuditLog {
	case "":
		return nil
	case "stdout":
		to = &auditStream{to: stdout}
	case "stderr":
		to = &auditStream{to: stderr}
	default:
		file, err := openAuditFile(cfg.AuditLog)
		if err != nil {
			return fmt.Errorf("audit-log: %w", err)
		}
		if info, err := file.file.Stat(); err == nil && info.Mode().Perm()&0o007 != 0 {
			p.log.Warn("everybody on this machine can read or write the audit log; chmod o-rwx it", "file", cfg.AuditLog)
		}
		to, closes = file, file.close
	}
	host, _ := os.Hostname()
	p.audit = audit.New(audit.Config{Name: host + ":" + strconv.Itoa(os.Getpid()), To: to, Log: p.log})
	p.endAudit = func() {
		if p.audit.Close(auditTimeout) {
			closes()
		}
	}
	return nil
}

// auditReload tells of a SIGHUP, and what came of it.
func (p *process) auditReload(live, restart []string, err error) {
	e := audit.Entry{Event: audit.Reload, Door: audit.Process, Command: "SIGHUP", Outcome: audit.Done,
		Answer: "changed: " + names(live)}
	switch {
	case err != nil:
		e.Outcome, e.Answer = audit.Refused, "the configuration is wrong"
	case len(restart) > 0:
		e.Answer += ", wait for a restart: " + strings.Join(restart, " ")
	}
	p.audit.Tell(e)
}

// auditStop tells why the process ends.
func (p *process) auditStop(why string) {
	p.audit.Tell(audit.Entry{Event: audit.Stop, Door: audit.Process, Answer: why})
}
