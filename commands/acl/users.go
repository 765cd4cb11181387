package acl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxUsers is how many users there may be, and maxName how long their names, in bytes.
const (
	maxUsers = 10_000
	maxName  = 128
)

// ErrDefault is that the user default is to go.
var ErrDefault error = fault("The 'default' user cannot be removed")

// Users are all of one server. Any number of goroutines may use them.
type Users struct {
	catalogue *Catalogue
	changing  sync.Mutex // held by who changes them
	all       atomic.Pointer[map[string]*User]
	version   atomic.Uint64
}

// NewUsers has one user: default, as given.
func NewUsers(c *Catalogue, standard *User) *Users {
	u := &Users{catalogue: c}
	u.all.Store(&map[string]*User{Default: standard})
	return u
}

// Named is a user as of now, nil if there is none of that name.
func (u *Users) Named(name string) *User { return (*u.all.Load())[name] }

// Names are sorted.
func (u *Users) Names() []string { return slices.Sorted(maps.Keys(*u.all.Load())) }

// Version is another number whenever a user may be another one.
func (u *Users) Version() uint64 { return u.version.Load() }

func (u *Users) change(all map[string]*User) {
	u.all.Store(&all)
	u.version.Add(1)
}

// Set makes of a user, who may be new, what these rules say, of which it keeps copies.
func (u *Users) Set(name string, rules []string) error {
	if name == "" || hasSpace(name) {
		return fault("Usernames can't contain spaces or null characters")
	}
	if len(name) > maxName {
		return fmt.Errorf("a user's name may be %d bytes long", maxName)
	}
	u.changing.Lock()
	defer u.changing.Unlock()
	all := maps.Clone(*u.all.Load())
	old := all[name]
	if old == nil {
		if len(all) == maxUsers {
			return fmt.Errorf("there are %d users already", maxUsers)
		}
		old = NewUser(u.catalogue, strings.Clone(name))
	}
	own := make([]string, len(rules))
	for i, rule := range rules {
		own[i] = strings.Clone(rule)
	}
	changed, err := old.With(u.catalogue, own)
	if err != nil {
		return err
	}
	all[old.Name] = changed
	u.change(all)
	return nil
}

// Delete takes users away, of whom default must not be one, and says who was there.
func (u *Users) Delete(names []string) (gone []string, err error) {
	if slices.Contains(names, Default) {
		return nil, ErrDefault
	}
	u.changing.Lock()
	defer u.changing.Unlock()
	all := maps.Clone(*u.all.Load())
	for _, name := range names {
		if all[name] != nil {
			delete(all, name)
			gone = append(gone, name)
		}
	}
	u.change(all)
	return gone, nil
}

// Replace puts these in the place of all, and says who is gone or another one now, who still holds the locks of
// the one before. What is not among them of default is as it was.
func (u *Users) Replace(list []*User) (changed []string) {
	u.changing.Lock()
	defer u.changing.Unlock()
	old := *u.all.Load()
	all := map[string]*User{Default: old[Default]}
	for _, user := range list {
		switch same := old[user.Name]; {
		case same == nil:
		case same.String() == user.String():
			user = same
		default:
			user = user.clone() // the one that was given may be somebody else's too
			user.Use = same.Use
		}
		all[user.Name] = user
	}
	for name, user := range old {
		if all[name] != user {
			changed = append(changed, name)
		}
	}
	u.change(all)
	return changed
}

// Parse reads lines as an ACL file has them: user NAME RULE… Empty ones, and those that begin with #, say
// nothing. An error names the line, and quotes nothing of it.
func (c *Catalogue) Parse(text string) (list []*User, err error) {
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if words[0] != "user" || len(words) < 2 {
			return nil, fmt.Errorf("line %d: it is to begin with the word user and a name", number)
		}
		if len(words[1]) > maxName {
			return nil, fmt.Errorf("line %d: a name may be %d bytes long", number, maxName)
		}
		if seen[words[1]] {
			return nil, fmt.Errorf("line %d: user %s was there before", number, words[1])
		}
		seen[words[1]] = true
		if len(list) == maxUsers {
			return nil, fmt.Errorf("line %d: %d users are the most", number, maxUsers)
		}
		user, err := NewUser(c, words[1]).With(c, words[2:])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, untold(err))
		}
		list = append(list, user)
	}
	return list, nil
}

// untold is why a rule is none, without the rule where it may have been meant to be a password.
func untold(err error) error {
	var rule *RuleError
	if !errors.As(err, &rule) {
		return errParenthesis
	}
	if rule.Rule != "" && strings.ContainsAny(rule.Rule[:1], "~%&+-") {
		return err
	}
	return rule.Err
}

// Text is all users as Parse reads them.
func (u *Users) Text() string {
	var b strings.Builder
	for _, name := range u.Names() {
		b.WriteString(u.Named(name).String())
		b.WriteByte('\n')
	}
	return b.String()
}
