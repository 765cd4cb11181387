package main

import (
	"fmt"
	"strconv"
	"strings"

	"redlock-proxy/integration"
)

// ask sends one command on a connection of its own. The reply must be a string.
func ask(addr string, args ...string) (string, error) {
	c, err := integration.Dial(addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	reply, err := c.Do(args...)
	if err != nil {
		return "", err
	}
	text, ok := reply.(string)
	if !ok {
		return "", fmt.Errorf("%.100q is answered %v", args, reply)
	}
	return text, nil
}

// field is a number that INFO shows as name:number.
func field(addr, section, name string) (int, error) {
	info, err := ask(addr, "INFO", section)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("INFO %s shows no %s", section, name)
}

// calls is how often a Redis has carried out a command.
func calls(addr, command string) (int, error) {
	info, err := ask(addr, "INFO", "commandstats")
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(info, "cmdstat_"+command+":calls=")
	if !found {
		return 0, nil
	}
	number, _, _ := strings.Cut(rest, ",")
	return strconv.Atoi(number)
}

// fillScript sets keys of the form that redis-benchmark makes of
// lock:__rand_int__, all to the value v.
const fillScript = `for i = tonumber(ARGV[1]), tonumber(ARGV[2]) - 1 do
	redis.call('SET', ARGV[3] .. string.format('%012d', i), 'v', 'PX', 3600000)
end
return 'OK'`

// fill gives a Redis the keys prefix000000000000 to prefix…n-1.
func fill(r *integration.Redis, prefix string, n int) error {
	const piece = 100_000
	for from := 0; from < n; from += piece {
		reply, err := ask(r.Addr, "EVAL", fillScript, "0", strconv.Itoa(from), strconv.Itoa(min(from+piece, n)), prefix)
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		if reply != "OK" {
			return fmt.Errorf("fill is answered %s", reply)
		}
	}
	return nil
}
