package acl

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"redlock-proxy/commands/glob"
	"redlock-proxy/commands/quota"
)

// fault is an error in Redis's words, which are sentences.
type fault string

func (f fault) Error() string { return string(f) }

// Why a rule is none, in Redis's words, but for what is ours.
var (
	errSyntax       = fault("Syntax error")
	errUnknown      = fault("Unknown command or category name in ACL")
	errNoSuchPass   = fault("The password you are trying to remove from the user does not exist")
	errBadHash      = fault("The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters")
	errAfterAllKeys = fault("Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. " +
		"Try 'resetkeys' to start with an empty list of patterns")
	errAfterAllChannels = fault("Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any " +
		"effect. Try 'resetchannels' to start with an empty list of channels")
	errLongPattern   = fmt.Errorf("a pattern may be %d bytes long", maxPattern)
	errLongPassword  = fmt.Errorf("a password may be %d bytes long", MaxPassword)
	errManyPasswords = fmt.Errorf("a user may have %d passwords", maxPasswords)
	errEndsSelector  = errors.New("no word of a selector may end with a parenthesis: it would end the selector where a file is read")
	errManySelectors = fmt.Errorf("a user may have %d selectors", maxSelectors)
	errParenthesis   = errors.New("a parenthesis is not closed")
	errManyRules     = fmt.Errorf("a user may have %d rules of each kind", maxRules)
)

// MaxPassword is how long a password may be in bytes: a longer one is not compared.
const MaxPassword = 4096

// The bounds of one user.
const (
	maxPasswords = 64
	maxRules     = 256 // of each kind, of one selector: commands, keys, channels
	maxPattern   = 256 // bytes
	maxSelectors = 16
)

// A RuleError names the word that is no rule.
type RuleError struct {
	Rule string
	Err  error
}

func (e *RuleError) Error() string {
	return "Error in ACL SETUSER modifier '" + e.Rule + "': " + e.Err.Error()
}

func (e *RuleError) Unwrap() error { return e.Err }

// With is what these rules make of a user, one after the other, as ACL SETUSER takes them.
// An error is a *RuleError, or says that a parenthesis is not closed.
func (u *User) With(c *Catalogue, rules []string) (*User, error) {
	rules, err := joinSelectors(rules)
	if err != nil {
		return nil, err
	}
	own := u.clone()
	for _, rule := range rules {
		if err := own.apply(c, rule); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// joinSelectors makes one word of each that is in parentheses.
func joinSelectors(words []string) (joined []string, err error) {
	open := -1
	for i, word := range words {
		switch {
		case open < 0 && strings.HasPrefix(word, "(") && !strings.HasSuffix(word, ")"):
			open = i
		case open < 0:
			joined = append(joined, word)
		case strings.HasSuffix(word, ")"):
			joined = append(joined, strings.Join(words[open:i+1], " "))
			open = -1
		}
	}
	if open >= 0 {
		return nil, fault("Unmatched parenthesis in acl selector starting at '" + words[open] + "'.")
	}
	return joined, nil
}

func (u *User) apply(c *Catalogue, rule string) error {
	var err error
	switch word := lower(rule); {
	case word == "": // says nothing, as on Redis
	case word == "on":
		u.Enabled = true
	case word == "off":
		u.Enabled = false
	case word == "nopass":
		u.NoPass, u.passwords = true, nil
	case word == "resetpass":
		u.NoPass, u.passwords = false, nil
	case word == "certificate":
		u.Certificate = true
	case word == "nocertificate":
		u.Certificate = false
	case word == "sanitize-payload", word == "skip-sanitize-payload": // there is nothing that restores a payload
	case word == "clearselectors":
		u.selectors = u.selectors[:1]
	case word == "reset":
		who, use := u.who, u.Use
		*u = *NewUser(c, u.Name)
		u.who, u.Use = who, use
	case quota.IsWord(word):
		err = u.Limits.Set(word)
	case strings.Contains("><#!", rule[:1]):
		err = u.applyPassword(rule[0], rule[1:])
	case strings.HasPrefix(rule, "("):
		err = u.applySelector(c, rule)
	default:
		if err = u.selectors[0].apply(c, rule); err != nil {
			return &RuleError{rule, err}
		}
	}
	if short := (*RuleError)(nil); err != nil && !errors.As(err, &short) {
		if strings.Contains("><", rule[:1]) {
			rule = rule[:1] + "…" // it is a password
		}
		return &RuleError{rule, err}
	}
	return err
}

func (u *User) applyPassword(kind byte, text string) error {
	var hash Hash
	switch {
	case kind == '>' && len(text) > MaxPassword:
		return errLongPassword
	case kind == '>', kind == '<':
		hash = sha256.Sum256([]byte(text))
	default:
		if n, err := hex.Decode(hash[:], []byte(text[:min(len(text), 2*len(hash))])); err != nil || n != len(hash) || len(text) != 2*n || text != lower(text) {
			return errBadHash
		}
	}
	i := slices.Index(u.passwords, hash)
	switch {
	case kind == '>' || kind == '#':
		if i < 0 {
			if len(u.passwords) == maxPasswords {
				return errManyPasswords
			}
			u.passwords = append(u.passwords, hash)
		}
		u.NoPass = false
	case i < 0:
		return errNoSuchPass
	default:
		u.passwords = slices.Delete(u.passwords, i, i+1)
	}
	return nil
}

// applySelector takes a selector: what is between parentheses.
func (u *User) applySelector(c *Catalogue, rule string) error {
	s := c.newSelector()
	for word := range strings.FieldsSeq(strings.TrimSuffix(rule[1:], ")")) {
		if strings.HasSuffix(word, ")") {
			return errEndsSelector
		}
		if err := s.apply(c, word); err != nil {
			return &RuleError{rule, err}
		}
	}
	if len(u.selectors) > maxSelectors {
		return errManySelectors
	}
	u.selectors = append(u.selectors, s)
	return nil
}

// apply is a rule that a selector may have too.
func (s *selector) apply(c *Catalogue, rule string) error {
	switch word := lower(rule); {
	case hasSpace(rule): // it could not be told in a file
		return errSyntax
	case word == "allkeys", word == "~*":
		s.allKeys, s.keys = true, nil
	case word == "resetkeys":
		s.allKeys, s.keys = false, nil
	case word == "allchannels", word == "&*":
		s.allChannels, s.channels = true, nil
	case word == "resetchannels":
		s.allChannels, s.channels = false, nil
	case word == "allcommands", word == "+@all":
		s.all(true)
	case word == "nocommands", word == "-@all":
		s.all(false)
	case strings.HasPrefix(rule, "~"):
		return s.addKeys(rule[1:], true, true)
	case strings.HasPrefix(rule, "%"):
		how, pattern, _ := strings.Cut(word[1:], "~")
		if how == "" || strings.Trim(how, "rw") != "" || !strings.Contains(rule, "~") {
			return errSyntax
		}
		pattern = rule[len(rule)-len(pattern):]
		return s.addKeys(pattern, strings.Contains(how, "r"), strings.Contains(how, "w"))
	case strings.HasPrefix(rule, "&"):
		return s.addChannels(rule[1:])
	case word[0] == '+' || word[0] == '-':
		if len(s.rules) >= maxRules {
			return errManyRules
		}
		if !s.command(c, word) {
			return errUnknown
		}
	default:
		return errSyntax
	}
	return nil
}

func hasSpace(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r == 0 || unicode.IsSpace(r) })
}

func (s *selector) addKeys(pattern string, read, write bool) error {
	switch {
	case s.allKeys:
		return errAfterAllKeys
	case len(pattern) > maxPattern:
		return errLongPattern
	case len(s.keys) == maxRules:
		return errManyRules
	}
	i := slices.IndexFunc(s.keys, func(k keyPattern) bool { return k.text == pattern })
	if i >= 0 {
		read, write = read || s.keys[i].read, write || s.keys[i].write
	}
	switch {
	case pattern == "*" && read && write: // also in two steps: both are told as ~*, which nothing may follow in a file
		s.allKeys, s.keys = true, nil
	case i >= 0:
		s.keys[i].read, s.keys[i].write = read, write
	default:
		s.keys = append(s.keys, keyPattern{pattern, glob.New(pattern), read, write})
	}
	return nil
}

func (s *selector) addChannels(pattern string) error {
	switch {
	case s.allChannels:
		return errAfterAllChannels
	case len(pattern) > maxPattern:
		return errLongPattern
	case len(s.channels) == maxRules:
		return errManyRules
	}
	if !slices.ContainsFunc(s.channels, func(p *channelPattern) bool { return p.text == pattern }) {
		s.channels = append(s.channels, &channelPattern{pattern, glob.New(pattern)})
	}
	return nil
}

// lower is of ASCII letters alone: a pattern may have any bytes.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
