package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Redis is a real redis-server: blank, in memory, without persistence unless
// its Args say otherwise.
type Redis struct {
	*Child
	// Addr is host:port, or the path of the socket if Options.Unix.
	Addr    string
	Options RedisOptions

	dir string
	bin string
}

// RedisOptions is how a Redis differs from a plain one.
type RedisOptions struct {
	Server   string // its name, see Servers; "" is Installed
	Password string
	Unix     bool          // listen on a unix socket alone
	TLS      *Certificates // listen with TLS alone, and ask for client certificates
	Args     []string      // further arguments of redis-server
	Env      []string      // NAME=value, beside the environment it inherits
}

// StartRedis starts a redis-server and waits until it answers.
func StartRedis(o RedisOptions) (*Redis, error) {
	bin, err := server(o.Server)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "redis-")
	if err != nil {
		return nil, err
	}
	r := &Redis{Options: o, dir: dir, bin: bin}
	if o.Unix {
		r.Addr = filepath.Join(dir, "redis.sock")
	} else {
		port, err := FreePort()
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		r.Addr = "127.0.0.1:" + strconv.Itoa(port)
	}
	if err := r.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return r, nil
}

func (r *Redis) start() error {
	args := []string{"--save", "", "--appendonly", "no", "--dir", r.dir, "--daemonize", "no"}
	port := r.Addr[strings.LastIndexByte(r.Addr, ':')+1:]
	switch {
	case r.Options.Unix:
		args = append(args, "--port", "0", "--unixsocket", r.Addr)
	case r.Options.TLS != nil:
		t := r.Options.TLS
		args = append(args, "--port", "0", "--tls-port", port, "--bind", "127.0.0.1",
			"--tls-cert-file", t.ServerCert, "--tls-key-file", t.ServerKey, "--tls-ca-cert-file", t.CA)
	default:
		args = append(args, "--port", port, "--bind", "127.0.0.1")
	}
	if r.Options.Password != "" {
		args = append(args, "--requirepass", r.Options.Password)
	}
	child, err := startChild(r.bin, r.Options.Env, append(args, r.Options.Args...)...)
	if err != nil {
		return err
	}
	r.Child = child
	if err := r.awaitReady(30 * time.Second); err != nil {
		return errors.Join(fmt.Errorf("redis-server at %s: %w\n%s", r.Addr, err, child.Log()), child.Kill())
	}
	return nil
}

func (r *Redis) awaitReady(within time.Duration) error {
	return await(within, r.Child, func() error {
		c, err := r.Dial()
		if err != nil {
			return err
		}
		defer c.Close()
		reply, err := c.Do("PING")
		if err == nil && reply != "PONG" {
			err = fmt.Errorf("PING is answered %v", reply)
		}
		return err
	})
}

// await tries until it works, the process has ended or the time is over.
func await(within time.Duration, child *Child, try func() error) error {
	deadline := time.Now().Add(within)
	for {
		err := try()
		switch {
		case err == nil:
			return nil
		case child.Ended():
			return fmt.Errorf("ended with exit code %d", child.code)
		case time.Now().After(deadline):
			return fmt.Errorf("not ready after %v: %w", within, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Dial connects to the server itself, with its password.
func (r *Redis) Dial() (*Client, error) {
	var c *Client
	var err error
	if r.Options.TLS != nil {
		c, err = DialTLS(r.Addr, r.Options.TLS.Client())
	} else {
		c, err = Dial(r.Addr)
	}
	if err != nil || r.Options.Password == "" {
		return c, err
	}
	if reply, err := c.Do("AUTH", r.Options.Password); err != nil || reply != "OK" {
		return nil, errors.Join(fmt.Errorf("AUTH is answered %v, %w", reply, err), c.Close())
	}
	return c, nil
}

// Restart starts a server that was killed or stopped anew, blank, where it was.
func (r *Redis) Restart() error {
	if !r.Ended() {
		return fmt.Errorf("redis-server at %s still runs", r.Addr)
	}
	return r.start()
}

// Stop ends the server in an orderly way and removes its directory.
func (r *Redis) Stop() error {
	// A frozen process takes no other signal.
	err := r.Thaw()
	if _, termErr := r.Terminate(30 * time.Second); termErr != nil {
		err = errors.Join(err, termErr)
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

// Dir is where it keeps its files.
func (r *Redis) Dir() string { return r.dir }
