package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Installed is the redis-server that the system has. Any other name is a version that
// integration/servers has put into its cache.
const Installed = "installed"

// Servers are the redis-servers that masters are started from, in turn: names with
// commas between them. It is a flag's value, and Installed if it is empty.
type Servers struct {
	names []string
}

func (s *Servers) String() string { return strings.Join(s.names, ",") }

// Set takes the names, and fails where there is no such server.
func (s *Servers) Set(names string) error {
	s.names = strings.Split(names, ",")
	for _, name := range s.names {
		if _, err := server(name); err != nil {
			return err
		}
	}
	return nil
}

// Mixed tells that masters are started from servers that are not all the same one.
func (s *Servers) Mixed() bool { return len(s.names) > 1 }

// Of is the name of the server that the i-th master is started from.
func (s *Servers) Of(i int) string {
	if len(s.names) == 0 {
		return Installed
	}
	return s.names[i%len(s.names)]
}

// server is the path of the redis-server of this name; none is Installed.
func server(name string) (string, error) {
	if name == "" || name == Installed {
		path, err := exec.LookPath("redis-server")
		if err != nil {
			return "", fmt.Errorf("%w: the tests need a real Redis; `apt-get install redis-server redis-tools` "+
				"(or run integration/test, which does it)", err)
		}
		return path, nil
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache")
	}
	path := filepath.Join(cache, "redlock-proxy-servers", filepath.Base(name), "redis-server")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is no Redis %s in %s; `bash integration/servers install` gets those that the tests know", name, path)
	} else if err != nil {
		return "", err
	}
	return path, nil
}
