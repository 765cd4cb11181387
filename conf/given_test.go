package conf

import (
	"strings"
	"testing"
	"time"
)

func TestOrdersOfSubcommandsAreRead(t *testing.T) {
	for _, c := range []struct {
		args                []string
		noLocksHeld, evenSo bool
		wait                time.Duration
	}{
		{args: []string{"bootstrap"}},
		{args: []string{"bootstrap", "--no-locks-held", "--wait", "1m30s"}, noLocksHeld: true, wait: 90 * time.Second},
		{args: []string{"bootstrap", "--wait=1s", "--wait=0"}},
		{args: []string{"bootstrap", "--no-locks-held=false"}},
		{args: []string{"bootstrap", "--no-locks-held", "--no-locks-held=no"}},
		{args: []string{"bootstrap", "--no-locks-held=true"}, noLocksHeld: true},
		{args: []string{"change-masters", "--from", "b:1", "--even-so"}, evenSo: true},
		{args: []string{"change-masters", "--from", "b:1", "--even-so=false"}},
	} {
		got, err := Load(append(c.args, "--master", "a:1"), nil)
		if err != nil || got.NoLocksHeld != c.noLocksHeld || got.EvenSo != c.evenSo || got.Wait != c.wait {
			t.Errorf("%q: %v: %+v", c.args, err, got)
		}
	}
}

func TestOrdersOfOtherSubcommandsAreRefused(t *testing.T) {
	for _, line := range []string{
		"serve --no-locks-held", "--wait 1s", "check --even-so", "bootstrap --even-so", "change-masters --from b:1 --no-locks-held",
		"bootstrap --wait", "bootstrap --wait 5", "bootstrap --wait soon", "bootstrap --wait=-1s", "bootstrap --wait 25h",
		"bootstrap --no-locks-held=perhaps",
	} {
		_, err := Load(append(strings.Fields(line), "--master", "a:1"), nil)
		if err == nil {
			t.Errorf("%s: nothing is wrong", line)
		}
	}
}
