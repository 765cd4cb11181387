package engine

// Rules about what is asked of keys that have one tag.
var rulesOfTags = []rule{
	{"no two batches on their way are about one tag", "pipelining.go",
		"s.about[quorum.Tag(key)] > 0",
		"s.about[key] > 0", false, 0, named("TestWhatHasATagOnItsWayToAFarMasterWaits")},
	{"nothing goes before what waits and has its tag", "pipelining.go",
		"waits[quorum.Tag(key)] = struct{}{}",
		"waits[key] = struct{}{}", false, 0, named("TestNothingGoesBeforeWhatHasItsTag")},
	{"steps on one tag take turns", "turns.go",
		"tags: o.tags()}",
		"tags: slices.Compact(slices.Sorted(slices.Values(o.keys())))}", false, 0, named("TestStepsOnOneTagTakeTurns")},
	{"a latch stays until the last key of its tag is seen to", "latch.go",
		"if n.latched = slices.Contains(tags, tag); !n.latched {",
		"if true {", false, 0, named("TestLatchOfATagStaysUntilTheLastOfItsKeys")},
	{"a script that may reach a key waits for its acquire", "follow.go",
		"if quorum.Tag(key) == tag &&",
		"if false &&", false, 0, named("TestScriptThatReachesWaitsForTheAcquiresOfItsTag")},
	{"what a script may have reached may be gone", "mark.go",
		"return m.key == k.tag",
		"return false", false, 0, named("TestScriptThatReachesMayHaveFreedAllOfItsTag")},
	{"a script that has kept to its keys has freed no other", "sent.go",
		"m.does&wide != 0 && a.does&within != 0",
		"false", true, 0, named("TestScriptThatReachesMayHaveFreedAllOfItsTag")},
	{"what is not on all masters alike is not won", "../decide/journal.go",
		"return !alone(j, k) && !alone(k, j) && ",
		"_ = alone\n\treturn ", false, 0, named("TestExactStepsDifferInAKeyThatOneHasReached").in("../decide")},
}
