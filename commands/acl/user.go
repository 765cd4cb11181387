package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"

	"redlock-proxy/commands/quota"
)

// Default is the name of the user that a client is until it says otherwise.
const Default = "default"

// Hash is of a password.
type Hash [sha256.Size]byte

// User is a value: whoever changes a user makes another one.
type User struct {
	Name        string
	Enabled     bool
	NoPass      bool // any password will do
	Certificate bool // whoever shows a certificate of his name is this user

	Limits quota.Limits
	Use    *quota.Use // what he takes of that, which is his under whatever rights

	who       uint64 // is another one of each user that was made, and of all that one became
	passwords []Hash
	selectors []*selector // the first is his own, the others each a further set of rights
}

var made atomic.Uint64 // users

// Is tells whether u has become of old by changes of his rights: a user that was taken away, and made anew
// under his name, is another one.
func (u *User) Is(old *User) bool { return u.who == old.who }

// NewUser is a user that may do nothing, as ACL SETUSER makes one that is not there.
func NewUser(c *Catalogue, name string) *User {
	return &User{Name: name, Use: new(quota.Use), who: made.Add(1), selectors: []*selector{c.newSelector()}}
}

// LimitsLocks tells that there is a bound on what locks the user takes. Of nobody there is none.
func (u *User) LimitsLocks() bool { return u != nil && (u.Limits.TTL != 0 || u.Limits.Locks != 0) }

func (u *User) clone() *User {
	own := *u
	own.passwords = slices.Clone(u.passwords)
	own.selectors = make([]*selector, len(u.selectors))
	for i, s := range u.selectors {
		own.selectors[i] = s.clone()
	}
	return &own
}

// Admits tells whether a password is one of the user's, in a time that does not tell which, or how
// much of it is right.
func (u *User) Admits(password string) bool {
	if u.NoPass {
		return true
	}
	given, right := sha256.Sum256([]byte(password)), 0
	for i := range u.passwords {
		right |= subtle.ConstantTimeCompare(given[:], u.passwords[i][:])
	}
	return right == 1
}

// Flags are those that ACL GETUSER tells.
func (u *User) Flags() []string {
	flags := []string{"off"}
	if u.Enabled {
		flags[0] = "on"
	}
	if u.NoPass {
		flags = append(flags, "nopass")
	}
	if u.Certificate {
		flags = append(flags, "certificate")
	}
	return flags
}

// Passwords are their hashes, in hexadecimal digits.
func (u *User) Passwords() (hashes []string) {
	for i := range u.passwords {
		hashes = append(hashes, hex.EncodeToString(u.passwords[i][:]))
	}
	return hashes
}

// Rights are what a selector allows, in words.
type Rights struct{ Commands, Keys, Channels string }

// Rights are the user's own, and those of his further selectors.
func (u *User) Rights() (own Rights, further []Rights) {
	for _, s := range u.selectors {
		further = append(further, Rights{s.describeCommands(), s.describeKeys(), s.describeChannels()})
	}
	return further[0], further[1:]
}

// String is the user as a line of an ACL file, which ACL LIST tells.
func (u *User) String() string {
	words := append([]string{"user", u.Name}, u.Flags()...)
	words = append(words, u.Limits.Words()...)
	for _, hash := range u.Passwords() {
		words = append(words, "#"+hash)
	}
	words = append(words, u.selectors[0].describe())
	for _, s := range u.selectors[1:] {
		words = append(words, "("+s.describe()+")")
	}
	return strings.Join(words, " ")
}
