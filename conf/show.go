package conf

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Show writes the configuration as it is in effect, in the form of the file,
// with where each value is from. Passwords are (set) or (none).
func (c *Config) Show() string {
	var b strings.Builder
	fields := reflect.ValueOf(c.Options)
	for i := range options {
		o := &options[i]
		text := c.shown(o, fields.Field(o.field))
		fmt.Fprintf(&b, "%-23s = %-32s # %s\n", o.name, text, c.From[o.name])
	}
	return b.String()
}

func (c *Config) shown(o *option, v reflect.Value) string {
	switch v := v.Interface().(type) {
	case Secret:
		return v.String()
	case []string:
		return c.shownList(o, v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Duration:
		return strconv.Quote(shortDuration(v))
	case string:
		return strconv.Quote(v)
	}
	panic("conf: an option of a type that cannot be shown")
}

func (c *Config) shownList(o *option, list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = strconv.Quote(o.shownItem(text))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// shownItem is an element of a list without its password.
func (o *option) shownItem(text string) string {
	switch o.name {
	case "master":
		return shownMaster(text)
	case "user":
		return shownUser(text)
	}
	return text
}

// shownUser is a user's rules with (set) for each password, hash of one, and word that is no rule and may have
// been meant to be one.
func shownUser(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if i > 0 && !plainRule.MatchString(word) {
			words[i] = "(set)"
		}
	}
	return strings.Join(words, " ")
}

var plainRule = regexp.MustCompile(`^\(?([~%&+-][^ ]*|(?i:on|off|nopass|resetpass|reset|certificate|nocertificate|allkeys|resetkeys|allchannels|resetchannels|allcommands|nocommands|clearselectors))\)?$`)

// shownMaster is a master's URL with (set) for its password.
func shownMaster(text string) string {
	at := strings.LastIndex(text, "@")
	scheme, rest, isURL := strings.Cut(text, "://")
	if at < 0 || !isURL {
		return redacted(text)
	}
	user, _, _ := strings.Cut(rest, ":")
	return scheme + "://" + user + ":(set)" + text[at:]
}

// Told is what CONFIG GET tells of the options: each but the passwords, by its name, a list with
// blanks between its elements.
func (c *Config) Told() map[string]string {
	told := map[string]string{}
	fields := reflect.ValueOf(c.Options)
	for i := range options {
		o := &options[i]
		switch v := fields.Field(o.field).Interface().(type) {
		case Secret:
		case []string:
			list := slices.Clone(v)
			for j := range list {
				list[j] = o.shownItem(list[j])
			}
			told[o.name] = strings.Join(list, " ")
		case time.Duration:
			told[o.name] = shortDuration(v)
		case int:
			told[o.name] = strconv.Itoa(v)
		case float64:
			told[o.name] = strconv.FormatFloat(v, 'g', -1, 64)
		case string:
			told[o.name] = v
		}
	}
	return told
}
