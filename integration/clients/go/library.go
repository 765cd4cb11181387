package main

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"
)

// library is a lock library, used as its own documentation shows. It is told
// nothing but the address.
type library struct {
	name    string // unlike every other's
	module  string // whose version it is known by
	connect func(addr string) (client, error)
	also    []scenario // what only this library can do
	instead []scenario // of scenarios, where it is too unlike the others
}

// client is one contender, with connections of its own.
type client interface {
	// try asks for the lock once, and lock as often as the library does by
	// itself. Both give errTaken where another holds it.
	try(ctx context.Context, key string, ttl time.Duration) (lease, error)
	lock(ctx context.Context, key string, ttl time.Duration) (lease, error)
	close() error
}

// lease is a lock that was had. Its methods give errLost where it is somebody
// else's meanwhile, or nobody's.
type lease interface {
	// extend makes it last for the ttl that it was taken with, from now on.
	extend(ctx context.Context) error
	unlock(ctx context.Context) error
}

// What every library says in words of its own.
var (
	errTaken = errors.New("taken")
	errLost  = errors.New("no longer held")
)

// libraries are all that are run.
var libraries = []library{
	redsyncOverGoRedis,
	redsyncOverRedigo,
	redsyncOverRueidis,
	redislock,
	redislock094,
	goRedis,
	goRedis2,
	rueidislock,
	rueidislockNoLoop,
}

// version is that of the module that was linked in.
func (l library) version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range build.Deps {
		if m.Path != l.module {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		return strings.TrimPrefix(m.Version, "v")
	}
	return "unknown"
}
