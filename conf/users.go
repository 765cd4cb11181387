package conf

import (
	"fmt"
	"strings"
)

// maxUsersFile is how long a file of users may be.
const maxUsersFile = 16 << 20

// users reads who may come.
func (c *Config) users(problems *Problems) Secret {
	if c.ACLFile == "" {
		var text strings.Builder
		for _, line := range c.User {
			text.WriteString("user " + line + "\n")
		}
		return Secret(text.String())
	}
	if len(c.User) > 0 {
		problems.add(c.where("aclfile"), "there are users in user as well", "leave one of them out")
	}
	b, err := c.readFor("aclfile", c.ACLFile, maxUsersFile)
	if err != nil {
		problems.add(c.where("aclfile"), err.Error(), "name a file that this process can read, or an empty one")
	}
	c.warnIfShown("aclfile", c.ACLFile, "users with their passwords")
	return Secret(b)
}

// ReadUsers reads the file of aclfile anew. ok is false if there is none.
func (c *Config) ReadUsers() (text string, ok bool, err error) {
	if c.ACLFile == "" {
		return "", false, nil
	}
	b, err := readRegular(c.ACLFile, maxUsersFile)
	return string(b), true, err
}

// WriteUsers puts another text in the place of the file of aclfile, in one step. ok is false if there is none. What
// could not be read again, at the next start say, is not written.
func (c *Config) WriteUsers(text string) (ok bool, err error) {
	if c.ACLFile == "" {
		return false, nil
	}
	if len(text) > maxUsersFile {
		return true, fmt.Errorf("they are %d bytes, and %s may be %d bytes long", len(text), c.ACLFile, maxUsersFile)
	}
	return true, replaceFile(c.ACLFile, text)
}

// knowsEverybody tells that nobody is the user default who has not shown a password, or cannot be at all.
func (c *Config) knowsEverybody() bool {
	closed := false
	for line := range strings.Lines(string(c.Users)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "user" || words[1] != "default" {
			continue
		}
		on, nopass := false, false // as a user of these lines begins
		for _, word := range words[2:] {
			switch lower := strings.ToLower(word); {
			case lower == "on", lower == "off":
				on = lower == "on"
			case lower == "nopass":
				nopass = true
			case lower == "reset":
				on, nopass = false, false
			case lower == "resetpass", word[0] == '>', word[0] == '#':
				nopass = false
			}
		}
		closed = !(on && nopass)
	}
	return closed
}
