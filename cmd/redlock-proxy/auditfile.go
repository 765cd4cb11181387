package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// auditFile is the file that the audit log is appended to. Whoever moves it away, as logrotate does,
// finds that the next line begins another one under its name: what is written where nobody would
// look for it is as good as lost.
type auditFile struct {
	path string
	file *os.File
	torn bool // its last line has no end
}

// openAuditFile opens the file, or makes it, for its owner alone. What is no regular file is refused,
// as a pipe that nobody reads or a device that takes everything would be.
func openAuditFile(path string) (*auditFile, error) {
	a := &auditFile{path: path}
	return a, a.Reopen()
}

// Reopen implements audit.Sink.
func (a *auditFile) Reopen() error {
	f, err := os.OpenFile(a.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600) // a pipe has one wait for its reader
	if err != nil {
		return err
	}
	torn, err := isTorn(f)
	if err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", a.path, err)
	}
	old := a.file
	a.file, a.torn = f, torn
	if old == nil {
		return nil
	}
	return errors.Join(old.Sync(), old.Close()) // nobody else would settle it
}

// isTorn tells that a file does not end with the end of a line, as after a crash.
func isTorn(f *os.File) (bool, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, errors.New("it is no regular file")
	case info.Size() == 0:
		return false, nil
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return last[0] != '\n', err
}

// Write implements audit.Sink.
func (a *auditFile) Write(line []byte) (int, error) {
	if err := a.follow(); err != nil {
		return 0, err
	}
	if a.torn {
		if _, err := a.file.WriteString("\n"); err != nil {
			return 0, err
		}
		a.torn = false
	}
	n, err := a.file.Write(line)
	if err != nil && n > 0 {
		a.takeBack(int64(n))
		n = 0
	}
	return n, err
}

// follow opens the file anew if another one, or none, has its name by now.
func (a *auditFile) follow() error {
	named, err := os.Stat(a.path)
	if err == nil {
		var ours os.FileInfo
		if ours, err = a.file.Stat(); err == nil && os.SameFile(named, ours) {
			return nil
		}
	}
	return a.Reopen()
}

// takeBack cuts off the part of a line for which the disk had room, unless somebody else, another
// proxy say, has written behind it.
func (a *auditFile) takeBack(n int64) {
	a.torn = true
	end, err := a.file.Seek(0, io.SeekCurrent) // of an append, where it has ended
	if err != nil {
		return
	}
	if info, err := a.file.Stat(); err == nil && info.Size() == end && end >= n {
		a.torn = a.file.Truncate(end-n) != nil
	}
}

// Settle implements audit.Sink.
func (a *auditFile) Settle() error {
	if err := a.follow(); err != nil {
		return err
	}
	return a.file.Sync()
}

// close is for when nothing is written any more.
func (a *auditFile) close() {
	if a.file != nil {
		a.file.Close()
	}
}

// auditStream is standard output or standard error, as the log of a container: whoever reads it
// keeps it.
type auditStream struct {
	to   io.Writer
	torn bool
}

// Write implements audit.Sink.
func (a *auditStream) Write(line []byte) (int, error) {
	if a.torn {
		if _, err := a.to.Write([]byte("\n")); err != nil {
			return 0, err
		}
		a.torn = false
	}
	n, err := a.to.Write(line)
	a.torn = err != nil && n > 0
	return n, err
}

// Reopen implements audit.Sink.
func (a *auditStream) Reopen() error { return nil }

// Settle implements audit.Sink.
func (a *auditStream) Settle() error { return nil }
