package conf

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// Master is one Redis master as configured.
type Master struct {
	Address
	TLS      bool
	User     string // "" is Redis's default user
	Password Secret // "" where the master needs none

	// Member is what the master is called in the set, if that is not its address.
	Member string
}

// Name is what the master is called in the set, in logs and INFO.
func (m Master) Name() string {
	if m.Member != "" {
		return m.Member
	}
	return m.String()
}

// member is the name that a URL's query gives a master: ?name=a. Anything else
// there is a mistake, or part of a password.
var member = regexp.MustCompile(`^name=([A-Za-z0-9][A-Za-z0-9._:-]{0,63})$`)

// Host is the name that the certificate of a TLS master must carry, unless
// another one is configured.
func (m Master) Host() string {
	host, _, err := net.SplitHostPort(m.Address.Address)
	if err != nil {
		return ""
	}
	return host
}

const sampleMaster = "127.0.0.1:6379"

// parseMaster reads a master. What it says is wrong never holds what may be a
// password, so it does not use the words of url.Parse.
func parseMaster(text string) (Master, *Problem) {
	scheme, _, isURL := strings.Cut(text, "://")
	switch {
	case strings.HasPrefix(text, "unix:"):
		return parseUnixMaster(text)
	case isURL && (scheme == "redis" || scheme == "rediss"):
		return parseMasterURL(text)
	case isURL:
		return Master{}, &Problem{
			What: fmt.Sprintf("%q is a URL of another kind", redacted(text)),
			Cure: "write host:port, redis://, rediss:// or unix://",
		}
	}
	a, p := parseHostPort(text, 1, sampleMaster)
	if p == nil && strings.HasPrefix(a.Address, ":") {
		p = &Problem{What: fmt.Sprintf("%q names no host", text), Cure: "write host:port, such as " + sampleMaster}
	}
	return Master{Address: a}, p
}

func userWithoutURL(text string) bool {
	return strings.Contains(text, "@") && !strings.Contains(text, "://")
}

func parseUnixMaster(text string) (Master, *Problem) {
	if strings.ContainsAny(text, "@?#") {
		return Master{}, &Problem{
			What: fmt.Sprintf("%q has more than a path", redacted(text)),
			Cure: "write unix:///path, and user and password in master-user and master-password-file",
		}
	}
	a, p := parseUnix(text)
	return Master{Address: a}, p
}

func parseMasterURL(text string) (Master, *Problem) {
	shown := redacted(text)
	u, err := url.Parse(text)
	if err != nil {
		return Master{}, &Problem{
			What: fmt.Sprintf("%q is not a URL", shown),
			Cure: "write redis://user:password@host:port, with special characters in user or password as %XX: / is %2F, @ is %40, # is %23, % is %25",
		}
	}
	name := member.FindStringSubmatch(u.RawQuery)
	if u.RawQuery != "" && name == nil || u.ForceQuery || u.Fragment != "" {
		return Master{}, &Problem{
			What: fmt.Sprintf("%q has more than a host", shown),
			Cure: "leave out what follows ? or #, but for ?name=NAME with a name of letters, digits and ._:-; if it is part of the password, write ? as %3F and # as %23",
		}
	}
	if db := strings.Trim(u.Path, "/"); db != "" && db != "0" {
		return Master{}, &Problem{
			What: fmt.Sprintf("%q names a database other than 0", shown),
			Cure: "leave it out: locks are kept in database 0; if it is part of the password, write / as %2F",
		}
	}
	port := u.Port()
	if port == "" {
		port = "6379"
	}
	a, p := parseHostPort(net.JoinHostPort(u.Hostname(), port), 1, sampleMaster)
	if p == nil && u.Hostname() == "" {
		p = &Problem{What: fmt.Sprintf("%q names no host", shown), Cure: "write redis://host:port"}
	}
	if p != nil {
		return Master{}, p
	}
	m := Master{Address: a, TLS: u.Scheme == "rediss"}
	if name != nil {
		m.Member = name[1]
	}
	if u.User != nil {
		password, _ := u.User.Password()
		if password == "" {
			return Master{}, &Problem{
				What: fmt.Sprintf("%q has a user and no password", shown),
				Cure: "write redis://user:password@host:port, or redis://:password@host:port without a user, or use master-user and master-password-file",
			}
		}
		m.User, m.Password = u.User.Username(), Secret(password)
	}
	return m, nil
}

// redacted leaves out what is before the last @, however little the text looks
// like a URL. A password with an unescaped ?, # or / stays hidden as well.
func redacted(text string) string {
	at := strings.LastIndex(text, "@")
	if at < 0 {
		return text
	}
	scheme := ""
	if i := strings.Index(text, "://"); i >= 0 && i < at {
		scheme = text[:i+3]
	}
	return scheme + "…" + text[at:]
}
