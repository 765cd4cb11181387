package model

// A world is what may happen, and how often. With all rules no execution in it
// breaks an invariant.
type world struct {
	name    string
	file    string
	defines string
	large   bool // only with -large
}

var worlds = []world{
	{name: "undo", file: "lock.pml", defines: "TRIES0=2 TRIES1=1 LEFTOVERS=0"},
	{name: "loss", file: "lock.pml", defines: "TRIES0=1 TRIES1=1 LOSSES=1 PROXIES=1 TIMER"},
	{name: "take-back", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 TAKE_BACK A_HOLDS"},
	{name: "extend", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 EXTENDS=1 A_HOLDS"},
	{name: "lost-again", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=2 PROXIES=1 A_HOLDS TIMER"},
	{name: "two-proxies", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=2 A_HOLDS"},
	{name: "two-masters", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=2 PROXIES=1 FIRST_LOST=1 A_HOLDS"},
	{name: "old-dump", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 OLD_DUMP A_HOLDS"},
	{name: "jump", file: "lock.pml", defines: "TRIES0=1 TRIES1=1 JUMPS=1 PROXIES=1"},
	{name: "cut", file: "lock.pml", defines: "TRIES0=1 TRIES1=1 CUTS=1 A_HOLDS"},

	{name: "three-to-five", file: "set.pml", defines: "OLD=7 NEW=31"},
	{name: "three-to-one", file: "set.pml", defines: "OLD=7 NEW=1"},
	{name: "one-replaced", file: "set.pml", defines: "OLD=7 NEW=14"},
	{name: "two-replaced", file: "set.pml", defines: "OLD=7 NEW=28"},

	{name: "first", file: "first.pml", defines: "DEATHS=1 A_ASKS B_ASKS"},
	{name: "first-lost", file: "first.pml", defines: "LOSSES=1 DEATHS=1 A_ASKS B_ASKS"},
	{name: "first-other-terms", file: "first.pml", defines: "OTHER_TERMS DEATHS=1 A_ASKS B_ASKS UNLOOKED"},
	{name: "first-two-shared", file: "first.pml", defines: "OTHER_TERMS SHIFT=1 DEATHS=1 A_ASKS B_ASKS UNLOOKED"},
	{name: "first-one-shared", file: "first.pml", defines: "OTHER_TERMS SHIFT=2 DEATHS=1 A_ASKS B_ASKS UNLOOKED"},
	{name: "first-one-shared-lost", file: "first.pml", defines: "OTHER_TERMS SHIFT=2 LOSSES=1 A_ASKS B_ASKS"},
	{name: "all-lost", file: "first.pml", defines: "STARTED TOTALS=1 LOSSES=1 A_ASKS B_ASKS"},
	{name: "all-lost-again", file: "first.pml", defines: "STARTED TOTALS=1 LOSSES=3"},
	{name: "all-lost-other-terms", file: "first.pml", defines: "OTHER_TERMS STARTED TOTALS=1 A_ASKS B_ASKS"},
	{name: "all-lost-two-shared", file: "first.pml", defines: "OTHER_TERMS SHIFT=1 STARTED TOTALS=1 LOSSES=1 A_ASKS B_ASKS"},
	{name: "all-lost-one-shared", file: "first.pml", defines: "OTHER_TERMS SHIFT=2 STARTED TOTALS=1 LOSSES=1 A_ASKS B_ASKS"},
	{name: "all-restarted", file: "first.pml", defines: "STARTED RESTARTS=2 LOSSES=1 A_ASKS B_ASKS"},
	{name: "one-master", file: "alone.pml", defines: ""},
	{name: "one-master-lost", file: "alone.pml", defines: "LOSSES=1"},
	{name: "scripts", file: "scripts.pml", defines: ""},
	{name: "two-operators", file: "operators.pml", defines: "DEATHS=1"},
	{name: "two-operators-two-new", file: "operators.pml", defines: "NEW=28"},
	{name: "ordered-again", file: "operators.pml", defines: "LOSSES=1 DEATHS=1 ONE_RUN"},
	{name: "two-operators-lost", file: "operators.pml", defines: "LOSSES=1"},
	{name: "ordered-again-two-new", file: "operators.pml", defines: "LOSSES=2 DEATHS=2 ONE_RUN NEW=28"},

	{name: "first-lost-again", file: "first.pml", defines: "LOSSES=3 DEATHS=1 A_ASKS B_ASKS", large: true},
	{name: "loss-tries", file: "lock.pml", defines: "TRIES0=2 TRIES1=1 LOSSES=1 PROXIES=1 TIMER", large: true},
	{name: "extend-all", file: "lock.pml", defines: "TRIES0=1 TRIES1=1 LOSSES=2 PROXIES=1 EXTENDS=1 TAKE_BACK", large: true},
	{name: "two-proxies-lost-again", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=2 PROXIES=2 A_HOLDS TIMER", large: true},
	{name: "two-masters-timer", file: "lock.pml", defines: "TRIES0=0 TRIES1=1 LOSSES=2 PROXIES=1 FIRST_LOST=1 A_HOLDS TIMER", large: true},
	{name: "five-to-three", file: "set.pml", defines: "OLD=31 NEW=7 A_HOLDS", large: true},
	{name: "five-masters", file: "lock.pml", defines: "N=5 TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 A_HOLDS", large: true},
	{name: "three-clients", file: "lock.pml", defines: "CLIENTS=3 TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 A_HOLDS", large: true},
}

// An absence is a rule left out: an execution must break an invariant then.
// JUST_HOLDERS asks for the two holders that it leads to, where the break of
// another invariant would be found sooner.
type absence struct {
	rule    string
	file    string
	defines string
}

var absences = []absence{
	{"UNDO_LATE", "lock.pml", "TRIES0=2 TRIES1=0 LEFTOVERS=0"},
	{"NO_QUARANTINE", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=1 A_HOLDS JUST_HOLDERS"},
	{"EARLY_TIMER", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=1 TIMER A_HOLDS JUST_HOLDERS"},
	{"NO_PROOF", "lock.pml", "TRIES0=1 TRIES1=1 LOSSES=1 PROXIES=1 JUST_HOLDERS"},
	{"NO_PROOF_NONCE", "lock.pml", "TRIES0=1 TRIES1=1 LOSSES=1 PROXIES=1 JUST_HOLDERS"},
	{"PROOF_AT_ARRIVAL", "lock.pml", "TRIES0=1 TRIES1=1 LOSSES=1 PROXIES=1 JUST_HOLDERS"},
	{"NO_PROOF_CLOCK", "lock.pml", "TRIES0=0 TRIES1=1 JUMPS=1 A_HOLDS JUST_HOLDERS"},
	{"NO_RUN_ID", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=1 OLD_DUMP A_HOLDS JUST_HOLDERS"},
	{"NO_WAIT", "lock.pml", "TRIES0=1 TRIES1=1 LOSSES=1 PROXIES=1 JUST_HOLDERS"},
	{"FEWER_SOURCES", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 A_HOLDS JUST_HOLDERS"},
	{"NO_SOURCE_NONCE", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=2 PROXIES=1 FIRST_LOST=1 A_HOLDS JUST_HOLDERS"},
	{"NO_AGREEMENT", "lock.pml", "TRIES0=0 TRIES1=2 LOSSES=1 PROXIES=1 A_HOLDS JUST_HOLDERS"},
	{"NO_LONGEST_TTL", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 EXTENDS=1 A_HOLDS JUST_HOLDERS"},
	{"NO_OVERWRITE", "lock.pml", "TRIES0=0 TRIES1=2 LOSSES=1 PROXIES=1 A_HOLDS JUST_HOLDERS"},
	{"NO_GUARD", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=2 PROXIES=1 A_HOLDS JUST_HOLDERS"},
	{"NO_GUARD_NONCE", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=2 PROXIES=1 A_HOLDS JUST_HOLDERS"},
	{"TAKE_BACK_EARLY", "lock.pml", "TRIES0=0 TRIES1=1 LOSSES=1 PROXIES=1 TAKE_BACK A_HOLDS JUST_HOLDERS"},
	{"NO_PREDECESSOR_END", "lock.pml", "TRIES0=1 TRIES1=1 CUTS=1 A_HOLDS JUST_HOLDERS"},
	{"NO_EXPIRY_IN_DEBTS", "lock.pml", "TRIES0=1 TRIES1=1 CUTS=1 A_HOLDS JUST_HOLDERS"},
	{"STAYING_VOTES_AT_ONCE", "set.pml", "OLD=31 NEW=7"},
	{"FROM_NEW_SET", "set.pml", "OLD=7 NEW=28"},
	{"FEWER_OLD_SOURCES", "set.pml", "OLD=7 NEW=28"},
	{"OLD_PROXIES_GO_ON", "set.pml", "OLD=7 NEW=31"},
	{"ADMITTED_ALONE", "first.pml", "OTHER_TERMS SHIFT=2 DEATHS=1 A_ASKS B_ASKS UNLOOKED JUST_HOLDERS"},
	{"GONE_IS_NOT_FIRST", "first.pml", "OTHER_TERMS SHIFT=2 STARTED TOTALS=1 A_ASKS B_ASKS UNLOOKED JUST_HOLDERS"},
	{"FIRST_AT_ONCE", "first.pml", "STARTED TOTALS=1 A_ASKS B_ASKS JUST_HOLDERS"},
	{"SHORT_FIRST_WAIT", "first.pml", "OTHER_TERMS SHIFT=2 STARTED LOSSES=1 A_ASKS B_ASKS JUST_HOLDERS"},
	{"GRANTS_ON", "first.pml", "OTHER_TERMS SHIFT=2 STARTED LOSSES=1 A_ASKS B_ASKS JUST_HOLDERS"},
	{"ACTS_ANYHOW", "first.pml", "LOSSES=1 A_ASKS B_ASKS JUST_HOLDERS"},
	{"UNSORTED", "first.pml", "OTHER_TERMS"},
	{"MARKS_OVER", "first.pml", "OTHER_TERMS"},
	{"ANY_ORDER", "first.pml", "OTHER_TERMS STARTED TOTALS=1"},
	{"OWN_STANDS", "first.pml", ""},
	{"STAYS_WITH_ITS_OWN", "first.pml", "STARTED TOTALS=1 LOSSES=2"},
	{"FIRST_BY_NAME", "first.pml", "STARTED TOTALS=1 LOSSES=2"},
	{"LONE_NO_PROOF", "alone.pml", ""},
	{"LONE_GOES_ON", "alone.pml", "LOSSES=1"},
	{"FROM_OWN_MARK", "alone.pml", ""},
	{"OWN_INSTALLATION", "operators.pml", "NEW=28"},
	{"NO_REREAD", "operators.pml", ""},
	{"CHANGE_NO_NONCE", "operators.pml", ""},
	{"NOT_ALL_FILLED", "operators.pml", ""},
	{"ADMITS_AGAIN", "operators.pml", "LOSSES=1 DEATHS=1 ONE_RUN"},
	{"BEGUN_IS_GIVEN", "operators.pml", "LOSSES=1"},
	{"NO_EFFECT", "scripts.pml", "JUST_HOLDERS"},
	{"WHATEVER_IT_HOLDS", "scripts.pml", "TRIES0=3 AWAYS=0 JUST_HOLDERS"},
	{"NO_DATE", "scripts.pml", "TRIES0=3 AWAYS=0 JUST_HOLDERS"},
	{"NO_BRING_UP", "scripts.pml", "TRIES0=2"},
	{"UNLOOKED", "first.pml", "OTHER_TERMS SHIFT=2 STARTED LOSSES=1 A_ASKS B_ASKS JUST_HOLDERS"},
	{"UNMET", "alone.pml", "LOSSES=1"},
	{"STRAGGLER", "lock.pml", "TRIES0=1 TRIES1=1 CUTS=1 A_HOLDS JUST_HOLDERS"},
}
