package journal

import (
	"strings"
	"testing"
)

// Where what a script is to spend comes to no number, it has spent all.
func TestWhatIsNoNumberLeavesNoStep(t *testing.T) {
	do := redis(t)
	const text = "local __t,__x=1000,function() error('spent') end local _,spend=nil" + printedFurther + " "
	for spends, want := range map[string]string{"spend(10)": "990", "spend(1000)": "spent", "spend(1/0)": "spent", "spend(0/0)": "spent", "spend(-(0/0))": "spent"} {
		if got := do("EVAL", text+"return "+spends, "0"); !strings.Contains(got, want) {
			t.Errorf("%s of 1000 steps: %s, want %s", spends, got, want)
		}
	}
}
