package conf

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
)

// maxFile is how long the files may be that hold a configuration or certificates: that of
// all the CAs that a system trusts is a tenth of it.
const maxFile = 4 << 20

// maxSecretFile is how long a password file may be.
const maxSecretFile = 4096

// readRegular reads a file of at most so many bytes. Somebody may name a device by
// mistake, which has no end, or a pipe, in which nothing comes at the next SIGHUP.
func readRegular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe has one wait for its writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// readFor reads the file that an option names, and notes what is in it.
func (c *Config) readFor(option, path string, most int64) ([]byte, error) {
	b, err := readRegular(path, most)
	if err == nil {
		c.contents[option] = sha256.Sum256(b)
	}
	return b, err
}

// warnIfShown warns of a file that everybody on this machine can read, and that holds
// what is not for everybody.
func (c *Config) warnIfShown(where, path, what string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 && runtime.GOOS != "windows" {
		c.warn("%s: everybody on this machine can read %s, which holds %s; chmod o-r it", where, path, what)
	}
}
