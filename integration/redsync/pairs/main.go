// Command pairs takes and gives back locks for a while, through redsync at the
// masters themselves or as a plain client of the proxy, and prints as JSON what
// it managed. Both ways use go-redis, and draw a token for each lock. The
// benchmark program runs it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// way is one way to a lock.
type way interface {
	// lock takes the lock of that name. It tries until it has it.
	lock(ctx context.Context, name string) (held, error)
	close() error
}

// held is a lock that is to be given back.
type held interface {
	unlock(ctx context.Context) error
}

type options struct {
	goroutines int
	during     time.Duration
	hot        bool          // all want one lock
	retry      time.Duration // from a refusal to the next try
}

func main() {
	var o options
	proxy := flag.String("proxy", "", "address of the proxy")
	masters := flag.String("masters", "", "addresses of the masters, for redsync, with commas between them")
	flag.IntVar(&o.goroutines, "goroutines", 50, "how many take locks at once")
	flag.DurationVar(&o.during, "during", time.Second, "how long they do")
	flag.BoolVar(&o.hot, "hot", false, "all want one lock, instead of one each")
	flag.DurationVar(&o.retry, "retry", time.Millisecond, "how long to wait after a refusal")
	flag.Parse()
	if err := run(o, *proxy, *masters); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

func run(o options, proxy, masters string) (err error) {
	var w way
	switch {
	case proxy != "" && masters == "":
		w = newPlain(proxy, o)
	case masters != "" && proxy == "":
		w = newRedsync(strings.Split(masters, ","), o)
	default:
		return errors.New("name the proxy or the masters")
	}
	defer func() { err = errors.Join(err, w.close()) }()
	told, err := measure(w, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}
