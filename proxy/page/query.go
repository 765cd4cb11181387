package page

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// parameters of a request's address, each of which may be there once.
type parameters map[string]string

// parametersOf a request that may have these names and no others.
func parametersOf(r *http.Request, names ...string) (parameters, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("the address's parameters: %w", err)
	}
	p := make(parameters)
	for _, name := range names {
		if list := values[name]; len(list) > 1 {
			return nil, fmt.Errorf("parameter %s is there twice", name)
		} else if len(list) == 1 {
			p[name] = list[0]
		}
		delete(values, name)
	}
	for name := range values {
		return nil, fmt.Errorf("there is no parameter %q", name)
	}
	return p, nil
}

// number is a parameter's, from least to most, or without it otherwise.
func (p parameters) number(name string, least, most, otherwise int) (int, error) {
	text, given := p[name]
	if !given {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("parameter %s is a number from %d to %d", name, least, most)
	}
	return n, nil
}

const (
	maxDB        = 1<<31 - 1
	usualLocks   = 50
	maxParameter = 4*MaxKey + 1024 // of which each byte of a key may be escaped
)

func parseQuery(r *http.Request) (q Query, err error) {
	p, err := parametersOf(r, "pattern", "db", "after", "count")
	if err != nil {
		return q, err
	}
	if q.DB, err = p.number("db", 0, maxDB, AllDBs); err != nil {
		return q, err
	}
	if q.Count, err = p.number("count", 1, MaxLocks, usualLocks); err != nil {
		return q, err
	}
	for _, name := range []string{"pattern", "after"} {
		if len(p[name]) > maxParameter {
			return q, fmt.Errorf("parameter %s is too long", name)
		}
	}
	q.Pattern, q.After = pattern(p["pattern"]), p["after"]
	return q, nil
}

func parsePlace(r *http.Request) (db int, key string, err error) {
	p, err := parametersOf(r, "db", "key")
	if err != nil {
		return 0, "", err
	}
	if db, err = p.number("db", 0, maxDB, 0); err != nil {
		return 0, "", err
	}
	text, given := p["key"]
	if !given {
		return 0, "", fmt.Errorf("parameter key is missing")
	}
	if key, err = unescaped(text); err == nil && len(key) > MaxKey {
		err = fmt.Errorf("a key of more than %d bytes is not shown", MaxKey)
	}
	return db, key, err
}
