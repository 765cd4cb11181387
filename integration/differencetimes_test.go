package integration

import (
	"slices"
	"strconv"
	"strings"
)

// shortLived tells that a command may give a key a ttl that ends while the conversation goes
// on.
func shortLived(args []string) bool {
	most := 5000
	if slices.ContainsFunc(args, func(arg string) bool { return strings.EqualFold(arg, "PXAT") || strings.EqualFold(arg, "EXAT") }) {
		most = 4102444800000 // some are milliseconds
	}
	switch nameOf(args) {
	case "set", "setex", "psetex", "getex", "expire", "pexpire":
		return slices.ContainsFunc(args[min(len(args), 2):], func(arg string) bool {
			n, err := strconv.Atoi(arg)
			return err == nil && n > 0 && n < most
		})
	}
	return false
}

// hasten has a command wait for no longer than anybody does here.
func hasten(args []string) {
	name, at := nameOf(args), len(args)-1
	if len(args) < 3 || !strings.HasPrefix(name, "b") {
		return
	}
	if name == "blmpop" || name == "bzmpop" {
		at = 1
	}
	if n, err := strconv.ParseFloat(args[at], 64); err == nil && (n == 0 || n > .1) && n < 1e15 {
		args[at] = ".001"
	}
}
