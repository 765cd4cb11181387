package clients

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// script is a language's script while it runs.
type script struct {
	cmd    *exec.Cmd
	in     *os.File // its input, in which nothing is, and which ends when that is closed
	out    *os.File
	lines  chan string // closed when nobody can print any more
	within time.Duration
	ctx    context.Context
	cancel context.CancelFunc
}

// launch starts a script against an address, or what else it is told. It has to be followed and waited for.
func launch(path string, within time.Duration, args ...string) (*script, error) {
	input, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer input.Close()
	out, in, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer in.Close()
	s := &script{in: ours, out: out, lines: make(chan string), within: within}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), within)
	s.cmd = exec.CommandContext(s.ctx, "bash", append([]string{path}, args...)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = input, in, in
	// What the script starts ends with it.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.Cancel = func() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }
	if err := s.cmd.Start(); err != nil {
		s.cancel()
		ours.Close()
		out.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	go s.read()
	return s, nil
}

func (s *script) read() {
	defer close(s.lines)
	lines := bufio.NewScanner(s.out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		s.lines <- lines.Text()
	}
	if err := lines.Err(); err != nil {
		s.lines <- "what follows is lost: " + err.Error()
	}
}

// follow hands each line to hear, and calls look many times a second, until
// the script prints no more.
func (s *script) follow(hear func(line string), look func()) {
	// Something that left the script's group of processes may hold its output open.
	stop := context.AfterFunc(s.ctx, func() { _ = s.out.SetReadDeadline(time.Now().Add(time.Second)) })
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				return
			}
			hear(line)
		case <-tick.C:
			look()
		}
	}
}

// wait is nil if the script ended by itself, with exit code 0.
func (s *script) wait() error {
	defer s.cancel()
	defer s.out.Close()
	defer s.in.Close()
	err := s.cmd.Wait()
	if s.ctx.Err() != nil {
		return fmt.Errorf("not ended after %v", s.within)
	}
	return err
}
