package engine_test

import (
	"fmt"
	"slices"
	"strings"

	"redlock-proxy/quorum/engine"
)

// inOneOrder looks for steps on a tag that masters have carried out in two orders while all was calm.
func (p *play) inOneOrder() {
	for _, tag := range []string{"t", "p"} {
		all := p.stage.Steps(tag)
		for i := range all {
			all[i] = slices.DeleteFunc(all[i], func(s engine.Step) bool {
				return !p.done[s.What] || !p.stage.WasCalm(s.At, calmTime)
			})
		}
		for i, list := range all[1:] {
			ours, theirs := common(all[0], list), common(list, all[0])
			p.ordered += len(ours)
			for n := range min(len(ours), len(theirs)) {
				if ours[n].By != theirs[n].By {
					p.stage.Broken(tag, "on keys of {%s} the first master has done %s, and master %d %s", tag, told(ours[n:]), i+2, told(theirs[n:]))
					return
				}
			}
		}
	}
}

// common are the steps of one master that another one has done, with the same outcome.
func common(list, other []engine.Step) (both []engine.Step) {
	did := make(map[string]bool)
	for _, s := range other {
		did[s.By+s.What] = true
	}
	for _, s := range list {
		if did[s.By+s.What] {
			both = append(both, s)
		}
	}
	return both
}

func told(steps []engine.Step) string {
	var all []string
	for _, s := range steps[:min(len(steps), 6)] {
		all = append(all, fmt.Sprint(s.What, " by ", s.By, " at ", s.At.UnixMicro()%1e9))
	}
	return strings.Join(all, ", ")
}
