package conf

import "os"

// checkAudit refuses what no audit log can be appended to. Whether its file can be written is found
// out by who opens it: that may be somebody else than who checks.
func (c *Config) checkAudit(problems *Problems) {
	switch c.AuditLog {
	case "", "stdout", "stderr":
		return
	}
	if info, err := os.Stat(c.AuditLog); err == nil && !info.Mode().IsRegular() {
		problems.add(c.where("audit-log"), c.AuditLog+" is no regular file", "name a file, or write stdout or stderr")
	}
}
