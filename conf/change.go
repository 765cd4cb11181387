package conf

import (
	"fmt"
	"slices"
)

// fromFlag is where the old set stands. It is no option: it is about one order, and
// not about how a proxy runs.
const fromFlag = "--from"

// checkOldMasters reads the masters that the set was made of before change-masters.
func (c *Config) checkOldMasters(password Secret, problems *Problems) {
	if len(c.Master) == 0 {
		problems.add("--master", "the new set is not named", "name all of its masters, those that stay too")
	}
	if len(c.old) == 0 {
		problems.add(fromFlag, "the old set is not named", "name all of its masters, those that are gone too, as its proxies did")
	}
	if i := slices.IndexFunc(c.old, userWithoutURL); i >= 0 {
		problems.add(fromFlag, fmt.Sprintf("master %d has a user or password, but is no URL", i+1),
			"write redis://user:password@host:port, with a comma in the password as %2C")
		return
	}
	if len(c.old) > maxMasters {
		problems.add(fromFlag, fmt.Sprintf("there are %d masters", len(c.old)), fmt.Sprintf("no set has more than %d", maxMasters))
	}
	for _, text := range c.old {
		m, p := parseMaster(text)
		if p != nil {
			p.Where = fromFlag
			*problems = append(*problems, *p)
			continue
		}
		if m.Password == "" {
			m.User, m.Password = c.MasterUser, password
		}
		if slices.ContainsFunc(c.OldMasters, func(other Master) bool { return other.Name() == m.Name() || other.identity() == m.identity() }) {
			problems.add(fromFlag, fmt.Sprintf("%s is there twice", m.Name()), "name each master once")
		}
		c.OldMasters = append(c.OldMasters, m)
	}
}
