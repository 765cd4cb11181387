package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Side is whom a file or a step is for. The zero Side is everybody.
type Side string

const (
	Proxy Side = "proxy-only"
	Redis Side = "redis-only"
)

// File is one conversation.
type File struct {
	Name     string
	Only     Side
	Password string // the server must ask for it; "" for none
	RESP2    bool   // the clients do not begin with HELLO
	Steps    []Step
}

// Step is one command with its reply, or one line that begins with !: the one of
// Send, Wait and Masters that is set. If none is, the client gets Want unasked.
type Step struct {
	Line    int
	Only    Side
	Client  int
	Send    []string
	Want    []string // as written, escapes and all
	Wait    time.Duration
	Masters []string
}

// Glob reads all files that match the pattern. It is an error if none does.
func Glob(pattern string) ([]*File, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no file matches %s", pattern)
	}
	var files []*File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := Parse(filepath.Base(path), string(text))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Parse reads one conversation. The name is for messages.
func Parse(name, text string) (*File, error) {
	p := parser{file: &File{Name: name}}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		if err := p.take(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.line, err)
		}
	}
	if p.only != "" {
		return nil, fmt.Errorf("%s: @ %s stands before nothing", name, p.only)
	}
	return p.file, nil
}

type parser struct {
	file *File
	line int
	only Side // for the next step
}

func (p *parser) take(line string) error {
	head, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || line[0] == '#':
		return nil
	case head == "<":
		return p.reply(rest)
	case strings.HasSuffix(head, "<"):
		return p.unasked(strings.TrimSuffix(head, "<"), rest)
	case head == "@":
		return p.directive(strings.Fields(rest))
	case head == "!":
		return p.order(rest)
	case strings.HasSuffix(head, ">"):
		return p.command(strings.TrimSuffix(head, ">"), rest)
	}
	return fmt.Errorf("a line begins with one of # > 2> < 2< ! @")
}

func (p *parser) add(s Step) {
	s.Line, s.Only, p.only = p.line, p.only, ""
	p.file.Steps = append(p.file.Steps, s)
}

func clientNumber(client string) (int, error) {
	n, err := strconv.Atoi(client)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number of a client", client)
	}
	return n, nil
}

// unasked takes a line of what a client gets without having sent anything.
func (p *parser) unasked(client, rest string) error {
	number, err := clientNumber(client)
	if err != nil {
		return err
	}
	if err := checkWant(rest); err != nil {
		return err
	}
	n := len(p.file.Steps)
	if n == 0 || p.only != "" || !p.file.Steps[n-1].unasked() || p.file.Steps[n-1].Client != number {
		p.add(Step{Client: number})
		n++
	}
	p.file.Steps[n-1].Want = append(p.file.Steps[n-1].Want, rest)
	return nil
}

func (s *Step) unasked() bool { return s.Send == nil && s.Wait == 0 && s.Masters == nil }

func (p *parser) command(client, rest string) error {
	number := 1
	if client != "" {
		n, err := clientNumber(client)
		if err != nil {
			return err
		}
		number = n
	}
	args, err := Split(rest)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return fmt.Errorf("no command")
	}
	p.add(Step{Client: number, Send: args})
	return nil
}

func (p *parser) reply(rest string) error {
	n := len(p.file.Steps)
	if n == 0 || p.file.Steps[n-1].Send == nil || p.only != "" {
		return fmt.Errorf("a reply to nothing")
	}
	if err := checkWant(rest); err != nil {
		return err
	}
	p.file.Steps[n-1].Want = append(p.file.Steps[n-1].Want, rest)
	return nil
}

func (p *parser) order(rest string) error {
	args, err := Split(rest)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 2 && args[0] == "wait":
		d, err := time.ParseDuration(args[1])
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no time to wait", args[1])
		}
		p.add(Step{Wait: d})
	case len(args) > 1 && args[0] == "masters":
		p.add(Step{Masters: args[1:]})
	default:
		return fmt.Errorf("! is followed by wait or masters")
	}
	return nil
}

func (p *parser) directive(words []string) error {
	f := p.file
	switch {
	case len(words) == 1 && isSide(words[0]):
		p.only = Side(words[0])
		return nil
	case len(words) < 2 || words[0] != "file" || len(f.Steps) > 0:
		return fmt.Errorf("@ is followed by proxy-only, redis-only or, at the head, file")
	case len(words) == 2 && isSide(words[1]):
		f.Only = Side(words[1])
	case len(words) == 2 && words[1] == "resp2":
		f.RESP2 = true
	case len(words) == 3 && words[1] == "password":
		f.Password, f.RESP2 = words[2], true
	default:
		return fmt.Errorf("unknown: @ %s", strings.Join(words, " "))
	}
	return nil
}

func isSide(word string) bool { return Side(word) == Proxy || Side(word) == Redis }
