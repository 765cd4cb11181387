package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// ErrNoNutcracker is returned where nutcracker is not installed.
var ErrNoNutcracker = errors.New("there is no nutcracker here; `apt-get install nutcracker` brings it")

// Nutcracker is the proxy of that name in front of one Redis: what a proxy
// written in C costs that decides nothing.
type Nutcracker struct {
	*Child
	Addr string

	dir string
}

const nutcrackerConf = `bench:
  listen: %s
  redis: true
  hash: fnv1a_64
  distribution: ketama
  auto_eject_hosts: false
  preconnect: true
  backlog: 1024
  servers:
   - %s:1
`

// StartNutcracker starts one before the Redis at target and waits until it answers.
func StartNutcracker(target string) (_ *Nutcracker, err error) {
	bin, err := exec.LookPath("nutcracker")
	if err != nil {
		// Debian has it where only the administrator looks.
		if bin, err = exec.LookPath("/usr/sbin/nutcracker"); err != nil {
			return nil, ErrNoNutcracker
		}
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	stats, err := FreePort()
	if err != nil {
		return nil, err
	}
	n := &Nutcracker{Addr: "127.0.0.1:" + strconv.Itoa(port)}
	if n.dir, err = os.MkdirTemp("", "nutcracker-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(n.dir))
		}
	}()
	path := filepath.Join(n.dir, "nutcracker.yml")
	if err := os.WriteFile(path, fmt.Appendf(nil, nutcrackerConf, n.Addr, target), 0o600); err != nil {
		return nil, err
	}
	if n.Child, err = startChild(bin, nil, "-c", path, "-a", "127.0.0.1", "-s", strconv.Itoa(stats)); err != nil {
		return nil, err
	}
	if err := await(10*time.Second, n.Child, n.answers); err != nil {
		return nil, errors.Join(fmt.Errorf("nutcracker at %s: %w\n%s", n.Addr, err, n.Log()), n.Kill())
	}
	return n, nil
}

// answers asks for a key: nutcracker knows only commands that have one.
func (n *Nutcracker) answers() error {
	c, err := Dial(n.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	reply, err := c.Do("GET", "nutcracker:started")
	if err == nil && reply != nil {
		err = fmt.Errorf("GET of no key is answered %v", reply)
	}
	return err
}

// Stop ends it and removes its directory.
func (n *Nutcracker) Stop() error {
	_, err := n.Terminate(5 * time.Second)
	return errors.Join(err, os.RemoveAll(n.dir))
}
