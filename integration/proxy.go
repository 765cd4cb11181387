package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// BuildProxy builds the program into dir and returns its path.
func BuildProxy(dir string, race bool) (string, error) {
	path := filepath.Join(dir, "redlock-proxy")
	args := []string{"build", "-o", path}
	if race {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "redlock-proxy/cmd/redlock-proxy")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the proxy: %w\n%s", err, out)
	}
	return path, nil
}

// Proxy is the real program, running as a process of its own.
type Proxy struct {
	*Child
	Addr string
}

// ProxyOptions is how a proxy is started.
type ProxyOptions struct {
	Path string   // of the program
	Args []string // flags besides --listen
	Env  []string // NAME=value
	Addr string   // where to listen: host:port or a unix socket's path; "" means a free port
	Bare bool     // Args hold the listeners too, and nothing is waited for

	Unmarked bool // the masters are left as they are
}

// raceOptions has a program with the race detector tell of a race by its exit code, and
// not wait for a second before it ends.
const raceOptions = "GORACE=exitcode=66 atexit_sleep_ms=20"

// bootstrap marks the masters if that has not been done, for locks at once. Where one of
// them cannot be reached or used, it is for the test to see to it.
func bootstrap(path string, env, args []string) error {
	if !slices.Contains(args, "--master") {
		return nil
	}
	// A master that is slow to answer can be reached.
	slow := []string{"bootstrap", "--no-locks-held", "--connect-timeout", "10s", "--master-timeout", "10s"}
	cmd := exec.Command(path, append(slow, args...)...)
	cmd.Env = append(append(os.Environ(), raceOptions), env...)
	out, err := cmd.CombinedOutput()
	for _, expected := range []string{"cannot be reached", "cannot be used"} {
		if strings.Contains(string(out), expected) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("bootstrap: %w\n%s", err, out)
	}
	return nil
}

// StartProxy starts the program on a free port, its masters being marked, and
// waits until it answers.
// Whether its masters can vote is another question.
func StartProxy(o ProxyOptions) (*Proxy, error) {
	p := &Proxy{Addr: o.Addr}
	if p.Addr == "" {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		p.Addr = "127.0.0.1:" + strconv.Itoa(port)
	}
	args := o.Args
	if !o.Bare {
		listen := p.Addr
		if strings.HasPrefix(listen, "/") {
			listen = "unix://" + listen
		}
		args = append([]string{"--listen", listen}, args...)
		if !o.Unmarked {
			if err := bootstrap(o.Path, o.Env, args); err != nil {
				return nil, err
			}
		}
	}
	// A data race that the program ran into shows in its exit code.
	// Nor is it waited for, at its end, that dead masters come back.
	env := append([]string{raceOptions, "REDLOCK_PROXY_SHUTDOWN_TIMEOUT=2s"}, o.Env...)
	child, err := startChild(o.Path, env, args...)
	if err != nil {
		return nil, err
	}
	p.Child = child
	if o.Bare {
		return p, nil
	}
	err = await(30*time.Second, child, func() error {
		c, err := Dial(p.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		// Any reply will do: one that wants a password says so.
		_, err = c.Do("PING")
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("redlock-proxy at %s: %w\n%s", p.Addr, err, child.Log()), child.Kill())
	}
	return p, nil
}
