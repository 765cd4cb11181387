package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Child is a process that was started here. What it prints is kept.
type Child struct {
	cmd  *exec.Cmd
	log  logBuffer
	done chan struct{} // closed once the process has ended and code is set
	code int           // exit code, -1 if a signal ended it
}

func startChild(path string, env []string, args ...string) (*Child, error) {
	c := &Child{cmd: Command(path, args...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	// Options of the program that whoever runs the tests happens to have set
	// are none of the tests' business.
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "REDLOCK_PROXY_") {
			c.cmd.Env = append(c.cmd.Env, e)
		}
	}
	c.cmd.Env = append(c.cmd.Env, env...)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	go func() {
		// The error only says what the exit code says too.
		_ = c.cmd.Wait()
		c.code = c.cmd.ProcessState.ExitCode()
		close(c.done)
	}()
	return c, nil
}

// Command is a program that is to be run to its end, but for no longer than this process
// lives: redis-benchmark, for one, asks on for ever where its server has gone.
func Command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = endWithParent()
	return cmd
}

// PID is the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Log is what the process has printed so far, both streams together.
func (c *Child) Log() string { return c.log.String() }

// Signal sends a signal; to a process that has ended it does nothing.
func (c *Child) Signal(s syscall.Signal) error {
	if err := c.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %v: %w", s, err)
	}
	return nil
}

// Freeze stops the process where it stands: its sockets stay open and are
// silent. It returns once the process runs no more.
func (c *Child) Freeze() error {
	if err := c.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for range 10_000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.PID()))
		if err != nil {
			// Not every system has it; there the signal is taken at its word.
			return nil
		}
		// The state follows the name, which is in parentheses and may hold any.
		if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "T") {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("process %d still runs after SIGSTOP", c.PID())
}

// Thaw lets a frozen process run on.
func (c *Child) Thaw() error { return c.Signal(syscall.SIGCONT) }

// Kill ends the process at once, frozen or not, and waits for its end.
func (c *Child) Kill() error {
	if err := c.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-c.done
	return nil
}

// Terminate asks the process to end and tells its exit code. A process that
// has not ended within the time given is killed, and that is an error.
func (c *Child) Terminate(within time.Duration) (code int, err error) {
	if err := c.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return c.Wait(within)
}

// Wait waits for the process to end by itself, as Terminate does.
func (c *Child) Wait(within time.Duration) (code int, err error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.code, nil
	case <-timer.C:
		return 0, errors.Join(fmt.Errorf("process %d still runs after %v", c.PID(), within), c.Kill())
	}
}

// Ended tells whether the process has ended.
func (c *Child) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// logBuffer is a bytes.Buffer that a process may write while a test reads it.
type logBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
