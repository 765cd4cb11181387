package conf

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"
)

// ErrNoFile is the error of Rewrite where the proxy was started without a file.
var ErrNoFile = errors.New("the server is running without a config file")

// writtenBy stands before what the file had no place for.
const writtenBy = "# Written by CONFIG REWRITE."

// Rewrite writes what CONFIG SET has changed into the file that c was read from, which has for the
// rest what it has by now. It keeps the comments and the order of the file, its mode and its owner:
// the file is replaced by another, in one step. rewritten is what c becomes by that, with a warning
// where everybody can read a password in the file; outranked names the flags and variables that count
// before the file all the same at the next start.
func (c *Config) Rewrite() (rewritten *Config, outranked []string, err error) {
	if c.Config == "" {
		return nil, nil, ErrNoFile
	}
	path, err := filepath.EvalSymlinks(c.Config)
	if err != nil {
		return nil, nil, err
	}
	b, err := readRegular(path, maxFile)
	if err != nil {
		return nil, nil, err
	}
	next := *c
	next.From = maps.Clone(c.From)
	text := string(b)
	for i := range options {
		o := &options[i]
		from := c.From[o.name]
		if from.Source != Order {
			continue
		}
		if text, err = put(text, o, reflect.ValueOf(c.Options).Field(o.field).Interface()); err != nil {
			return nil, nil, err
		}
		next.From[o.name] = Origin{Source: File, Place: c.Config}
		if from.over != "" {
			outranked = append(outranked, from.over)
		}
	}
	if text != string(b) {
		err = replaceFile(path, text)
	}
	next.Warnings = nil
	next.warnOfShownFile()
	return &next, outranked, err
}

// put is the text of a file with another value of an option. That this is all that changes is
// found out by reading it.
func put(text string, o *option, value any) (string, error) {
	line, err := tomlLine(o, value)
	if err != nil {
		return "", err
	}
	before, _, problems := parseFile("", text)
	if len(problems) > 0 {
		return "", fmt.Errorf("the file is not right as it is: %w", problems.err())
	}
	set, _, _ := parseFile("", line)
	want := maps.Clone(before)
	want[o.name] = set[o.name]
	next := placed(text, o.name, line)
	if after, _, _ := parseFile("", next); !reflect.DeepEqual(after, want) {
		return "", fmt.Errorf("%s stands in the file in a way that it cannot be changed in: write it as %s = … in a line of its own", o.name, o.name)
	}
	return next, nil
}

// tomlLine is an option with a value as the file has it.
func tomlLine(o *option, value any) (string, error) {
	if secret, is := value.(Secret); is {
		value = string(secret)
	}
	b, err := toml.Marshal(map[string]any{o.name: value})
	return strings.TrimSuffix(string(b), "\n"), err
}

// placed puts a line in the place of the one that sets the option, whose comment stays; or else
// behind the one that has it as a comment, as the file does that comes with the proxy; or else at
// the end.
func placed(text, name, line string) string {
	lines := strings.Split(text, "\n")
	set := regexp.MustCompile(`^(\s*)["']?` + regexp.QuoteMeta(name) + `["']?\s*=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^#"'\s]+)(\s*(?:#.*)?)$`)
	for i, old := range lines {
		if m := set.FindStringSubmatch(strings.TrimSuffix(old, "\r")); m != nil {
			lines[i] = m[1] + line + m[2] + old[len(strings.TrimSuffix(old, "\r")):]
			return strings.Join(lines, "\n")
		}
	}
	commented := regexp.MustCompile(`^#\s?` + regexp.QuoteMeta(name) + `\s*=`)
	if i := slices.IndexFunc(lines, commented.MatchString); i >= 0 {
		return strings.Join(slices.Insert(lines, i+1, line), "\n")
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if !slices.Contains(lines, writtenBy) {
		text += writtenBy + "\n"
	}
	return text + line + "\n"
}

// replaceFile puts a file with another text in the place of one, which it is not told from by
// anything else. Whoever reads meanwhile finds the one or the other, also after a power cut.
func replaceFile(path, text string) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text)
	if owner, is := info.Sys().(*syscall.Stat_t); err == nil && is {
		if err = f.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			err = fmt.Errorf("%s belongs to another user, and would not stay his: %w", path, err)
		}
	}
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir has the disk know what a folder holds.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
