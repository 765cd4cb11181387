// Redlock-proxy is a lock proxy that speaks the Redis protocol: it puts every
// lock command to N independent masters and answers what a quorum of them
// decided. See the README.
//
// The program is a straight line: flags, variables and file become a
// conf.Config; from that the engine (package quorum/engine) and the server (package
// proxy) are made; then it waits for signals; and then it stops accepting, lets
// clients finish, pays its debts, closes the lanes and exits.
//
// The goroutines that are started here:
//
//	goroutine    started by     owns                     ends when             waited for by
//	acceptor     serve, one a   the accept loop of one   the server shuts      process.stop
//	             listener       listener                 down, or it fails
//	admin        serve          the accept loop of the   its server shuts      process.stop
//	acceptor                    admin listener           down, or it fails
//	demo's       serve          –                        the shutdown begins   process.stop
//	clients
//	watchdog     serve          –                        the shutdown begins   process.stop
//	teller       process.wait   –                        no client is left     process.stop
//	log writer   newLogger      standard error           logQueue.close        logQueue.close, for a
//	                                                                           second at most
//	stopper      process.stop   the order of the end     all has ended         serve, unless a second
//	                                                                           signal ends the process
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"redlock-proxy/commands"
	"redlock-proxy/conf"
)

// The exit codes. A wrong configuration has one of its own, that of sysexits.h,
// so that a supervisor can tell it from a crash (a panic of Go is 2): starting
// again would not help.
const (
	exitOK     = 0
	exitFailed = 1
	exitConfig = 78
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	cfg, err := conf.Load(args, os.Environ())
	if cfg.Command == conf.ShowHelp {
		return tell(stdout, stderr, cfg.Help, exitOK)
	}
	if wrong := commands.CheckUsers(string(cfg.Users)); wrong != nil {
		err = errors.Join(err, fmt.Errorf("users: %w", wrong))
	}
	if err != nil {
		fmt.Fprintln(stderr, "redlock-proxy: the configuration is wrong:")
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "  "+line)
		}
		return exitConfig
	}
	switch cfg.Command {
	case conf.ShowVersion:
		return tell(stdout, stderr, versionText(), exitOK)
	case conf.Man:
		return tell(stdout, stderr, conf.Manual(programVersion()), exitOK)
	case conf.Completion:
		return tell(stdout, stderr, conf.Completions(cfg.Shell), exitOK)
	case conf.Check:
		return check(cfg, stdout, stderr)
	case conf.Doctor:
		return examine(cfg, stdout, stderr)
	case conf.Status:
		return status(cfg, stdout, stderr)
	case conf.Ping:
		return ping(cfg, stdout, stderr)
	case conf.Ready:
		return ready(cfg, stdout, stderr)
	case conf.Bootstrap:
		return bootstrap(cfg, stdout, stderr)
	case conf.ChangeMasters:
		return changeMasters(cfg, stdout, stderr)
	}
	return serve(cfg, args, stdout, stderr)
}

func check(cfg *conf.Config, stdout, stderr io.Writer) int {
	for _, w := range cfg.Warnings {
		fmt.Fprintln(stderr, "warning: "+w)
	}
	return tell(stdout, stderr, cfg.Show(), exitOK)
}

// tell prints what a command was asked for, and is its exit code: that of a failure where it cannot
// be printed, as to a disk that is full, so that nobody takes a part for the whole.
func tell(stdout, stderr io.Writer, text string, code int) int {
	if _, err := io.WriteString(stdout, text); err != nil {
		fmt.Fprintf(stderr, "redlock-proxy: what was asked for cannot be printed: %v\n", err)
		return max(code, exitFailed)
	}
	return code
}
