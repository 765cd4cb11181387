package engine

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var withoutRules = flag.Bool("rules", false, "take each rule out of the source in turn, and have the simulation or a test find what comes of it")

// rule is one thing that the promises rest on: with old replaced by new in a file, mostly
// of this package, it is gone.
type rule struct {
	name, file, old, new string

	leaves    bool // it is about what is left behind, not about two holders
	seed      int  // soon after which its absence was found
	schedules schedulesOf
}

// schedulesOf are the schedules in which a rule matters.
type schedulesOf struct {
	simulation string
	most       int // that are tried
	flags      []string
	folder     string // of the package, if it is another one
}

var (
	faults   = schedulesOf{simulation: "SimulatedFaults", most: 20000}
	constant = schedulesOf{simulation: "SimulatedConstantTokens", most: 20000} // clients lock with one
	sockets  = schedulesOf{simulation: "SimulatedConstantTokens", most: 20000, flags: []string{"-sockets"}}

	reconfigured = schedulesOf{simulation: "SimulatedReconfigurations", most: 2000} // masters are
	endings      = schedulesOf{simulation: "SimulatedEnds", most: 2000}
	firsts       = schedulesOf{simulation: "SimulatedFirstStarts", most: 2000}
	standstills  = schedulesOf{simulation: "SimulatedStandstills", most: 2000} // of the proxies' machine
	rareLooks    = schedulesOf{simulation: "SimulatedRareLooks", most: 2000}
	proxies      = schedulesOf{simulation: "SimulatedProxies", most: 2000} // whole ones
)

// catchUps of a kind, or of all kinds: anyKind.
func catchUps(kind int) schedulesOf {
	return schedulesOf{simulation: "SimulatedCatchUps", most: 4000, flags: []string{"-kind", fmt.Sprint(kind)}}
}

// named is the one test that shows what a rule is for, where that takes more than the
// simulation does to masters.
func named(test string) schedulesOf {
	return schedulesOf{simulation: "^" + test + "$", most: 1}
}

// in is that of a test of another package, in a folder as seen from here.
func (s schedulesOf) in(folder string) schedulesOf {
	s.folder = folder
	return s
}

var rules = []rule{
	{"a master that forgot is quarantined", "examine.go",
		"return 0, k.markAll(link, read, lost, of, spared)",
		"_, _ = spared, of\n\treturn 0, k.mark(link, read, k.markerOf(link, db.engine.installation.name(), \"\"))", false, 52, faults},
	{"a marker that was replaced is not believed again", "examine.go",
		"if e.past.replaced(e.marker.Nonce) && (",
		"if e.past.replaced(e.marker.Nonce) && false && (", false, 0, named("TestMarkerThatWasReplacedIsNotBelievedAgain")},
	{"a vote counts with its proof", "settling.go",
		"w.counts = w.counts && heard == nil && !s.keeper.doubt",
		"w.counts = heard == nil", false, 3114, faults},
	{"a clock that jumps is found out", "../clock/anchor.go",
		"if by := later.At - later.Read - most; by > slack {",
		"if by := later.At - later.Read - most; by > time.Hour {", false, 7, rareLooks},
	{"a process that was started anew may have forgotten", "../marker/verdict.go",
		"case m.RunID == who.RunID:",
		"case true:", false, 85, faults},
	{"only what was durable all along is excused", "../marker/verdict.go",
		"case (m.Durable || db != 0) && who.KeptAll() && !m.Nonce.Provisional():",
		"case !m.Nonce.Provisional():", false, 0, named("TestDurableMasterIsExcusedANewProcess")},
	{"a master that forgot is given what the others hold", "quarantine.go",
		"err := db.catchUp(ctx, l, q, left <= 0)",
		"err := error(nil)", false, 1, catchUps(anyKind)},
	{"a catch-up waits until what counted old votes is decided", "quarantine.go",
		"clock.Pause(ctx, db.Hush())",
		"clock.Pause(ctx, 1)", false, 201401, catchUps(decidedLast)},
	{"a source is what it was when it was chosen", "../catchup/peer.go",
		"if proof.Nonce != p.Nonce {",
		"if false {", false, 45, catchUps(anyKind)},
	{"a master is admitted only under the nonce of its quarantine", "fakekeys_test.go",
		"if m.marker() == args[4] || args[4] != \"\" && strings.HasPrefix(m.marker(), args[4]) {",
		"if args[4] != \"\" || m.marker() == \"\" {", false, 15, catchUps(anyKind)},
	{"a run that was overtaken gives a master nothing more", "fakecatchup_test.go",
		"if string(marker.NonceOf(m.marker())) != argv[0] {\n\t\t\treturn integer(decide.SaysOtherNonce), true\n\t\t}\n" +
			"\t\tif s == catchup.LeaseScript {\n\t\t\treturn m.lease(argv), true\n\t\t}\n" +
			"\t\tif l, _ := m.key(keys[1]); l.value != argv[1] {",
		"if s == catchup.LeaseScript {\n\t\t\treturn m.lease(argv), true\n\t\t}\n" +
			"\t\tif l, _ := m.key(keys[1]); l.value == argv[0] {", false, 262, catchUps(copiedLate)},
	{"a lost acquire is undone", "acquire.go",
		"r.undo()\n",
		"\n", true, 1, faults},
	{"a grant that comes late is undone", "ruling.go",
		"r.undoOn(i)\n",
		"\n", true, 250, faults},
	{"a predecessor is ended", "../master/identify.go",
		"if predecessor.RunID == who.RunID && predecessor.ClientID != 0 {",
		"if false {", false, 15, sockets},
	{"sources that disagree are read again", "../catchup/agreement.go",
		"return reading{}, disputed",
		"continue", false, 121, catchUps(anyKind)},
	{"the longest ttl is copied", "../decide/left.go",
		"return b != SaysNoTTL && (a == SaysNoTTL || a > b)",
		"return a != SaysNoTTL && (b == SaysNoTTL || b > a)", false, 23, catchUps(anyKind)},
	{"a catch-up reads N-quorum+1 masters", "../catchup/agreement.go",
		"n - quorum.QuorumOf(n) + 1",
		"n - quorum.QuorumOf(n)", false, 1, catchUps(anyKind)},
	{"a catch-up overwrites what the master holds", "fakecatchup_test.go",
		"if own, ok := m.key(name); ok && m.digest(name) == d && (own.until == 0 || left >= 0 && m.pttl(own) >= left) {",
		"if _, ok := m.key(name); ok {", false, 49, catchUps(anyKind)},
	{"nothing is taken back where copies may have been given since", "fakekeys_test.go",
		"return nonce == \"\" || string",
		"return true || string", false, 1049, catchUps(noticedLate)},
	{"every expiry is padded", "../clock/validity.go",
		"return ttl + Drift(ttl)",
		"return ttl", false, 78, faults},
	{"an extension whose lock may have ended while it waited is refused", "collapse.go",
		"if won && o.Kind == quorum.Extend {",
		"if false {", false, 3, constant},
	{"what is taken back spares what ends later", "fakekeys_test.go",
		"return from <= at && at <= to",
		"return from <= at && (at <= to || true)", false, 29, constant},
	{"a marker names its database", "../marker/verdict.go",
		"case m.DB != db && m.DB != NotTold:",
		"case false:", false, 304, reconfigured},
	{"a master that is back is freed of what nobody holds", "examine.go",
		"if m.Ghosts && k.haunted != m.Nonce {",
		"if false {", true, 22, endings},
	{"a release is owed to a master that is away", "undoing.go",
		"\tcase !q.open:\n\t\tq.oweLocked(d, now)",
		"\tcase !q.open:\n\t\tq.cannotUndo(d)", true, 3, endings},
	{"a value beside one that a quorum holds goes", "../catchup/look.go",
		"without[g.key] >= h.needed || h.isNobodys(g, told[g.key])",
		"without[g.key] >= h.needed || false && h.isNobodys(g, told[g.key])", true, 37, endings},
	{"a transaction acts only where what it watches is as it was", "../../commands/exec.go",
		"args := []string{strconv.Itoa(len(watched))}\n\tfor i, key := range watched {",
		"args := []string{\"0\"}\n\tfor i, key := range watched[:0] {", false, 83, proxies},
	{"a standstill excuses no clock that has jumped otherwise", "../clock/anchor.go",
		"if other != (Jump{}) && other.alike(as) {",
		"if other != (Jump{}) {", false, 386, standstills},
	{"a first start waits until locks from before it have ended", "../members/set.go",
		"func (s *Set) QuarantineTime() time.Duration { return clock.Pad(s.MaxTTL) }",
		"func (s *Set) QuarantineTime() time.Duration { return clock.Pad(s.MaxTTL) / 20 }", false, 3, firsts},
	{"what takes a marker has taken more", "examine.go",
		"e.verdict == marker.Emptied && lost != \"\" {",
		"false {", false, 0, named("TestEvictionThatTakesAMarkerIsALossOfTheWholeMaster")},
	{"a jump that no marker tells of yet is told once one can", "examine.go",
		"e.untold = e.untold || e.verdict == marker.Unmarked",
		"e.untold = false", false, 0, named("TestJumpOfAMasterWithoutMarkerIsToldInAllDatabases")},
	{"a loss that is over excuses no clock", "examine.go",
		"m.Loss != e.known.Loss && m.Nonce.Provisional() && !m.First",
		"m.Loss != e.known.Loss", false, 0, named("TestLossThatIsOverExcusesNoClockThatIsSetAfterwards")},
	{"who is marked anew knows of logs that were switched off", "firstrun.go",
		"next.Others = k.db.logsBeside(k.lane, marker.MergeLogs(m.Others, k.toldLogs()))",
		"next.Others = k.db.logsBeside(k.lane, m.Others)", false, 0, named("TestOthersThatAreMarkedAnewKnowOfALogThatWasSwitchedOff")},
	{"what is tried once more is told from a later lock of its token by its place", "undoing.go",
		"if q.hasCome(d) {", "if false {", false, 0, named("TestWhatIsTriedOnceMoreTakesNoLaterLockOfTheToken")},
	{"an acquire is not won by what a flush has taken", "follow.go",
		"\t\t\t\tf.void.Store(true)",
		"\t\t\t\t_ = f", false, 0, named("TestAcquireIsNotWonByWhatAFlushHasTaken")},
	{"the masters of the old set are marked in one order", "../members/change.go",
		"slices.SortedFunc(slices.Values(r.servers), inTurn)",
		"slices.SortedStableFunc(slices.Values(r.servers), func(a, b *server) int { return min(len(a.was), 1) - min(len(b.was), 1) })",
		false, 0, named("TestOfTwoSetsThatAreMadeOfOneAtOnceOneIsFinished")},
	{"ghosts are laid however long the others were away", "ghosts.go",
		"for clock.Pause(ctx, wait+db.Hush()); ctx.Err() == nil; clock.Pause(ctx, wait) {",
		"for began := db.Boot(); ctx.Err() == nil && db.Boot()-began < db.QuarantineTime(); clock.Pause(ctx, wait) {",
		true, 0, named("TestGhostsAreLaidHoweverLongTheOthersWereAway")},
	{"what a master refuses to take back stays owed", "debt.go",
		"s.queue.oweLocked(*d, time.Now())",
		"s.queue.undone(*d, 0)", true, 0, named("TestUndoThatIsRefusedStaysOwed")},
	{"a master that refuses to write is down", "../decide/failure.go",
		`return a.Failed("MISCONF ") || a.Failed("NOREPLICAS ")`,
		"return false", true, 0, named("TestReleaseIsOwedToAMasterThatRefusesToWrite")},
	{"a master that does not let its user free locks is down", "../master/identify.go",
		"if a.RefusesToWrite() || a.Forbidden() {",
		"if a.RefusesToWrite() {", false, 0, named("TestMasterThatForbidsWhatLocksNeedIsDownUntilItAllowsIt")},
	{"what a source holds and forbids is not taken for nothing", "../catchup/forbidden.go",
		"if silent && told < r.needed {",
		"if silent && false {", false, 0, named("TestWhatASourceForbidsAndHoldsIsNotTakenForNothing")},
	{"what a source forbids is no ghost", "../catchup/look.go",
		"			may++\n			continue\n",
		"			continue\n", false, 0, named("TestWhatASourceForbidsIsNoGhost")},
	{"what a source forbids is not taken back", "../catchup/agreement.go",
		"case disputed, unread:",
		"case disputed:", false, 0, named("TestCopyIsHeldAsLongAsASourceHoldsIt").in("../catchup")},
	{"what an old source forbids is not left by a lock", "../catchup/agreement.go",
		"if r.digest == \"\" && !r.forbidden {",
		"if r.digest == \"\" {", false, 0, named("TestWhatIsForbiddenIsNotLeftByALock").in("../catchup")},
	{"what a master forbids to take back stays owed", "debt.go",
		"case a.Kind == quorum.FailureReply && !a.WrongType():",
		"case false:", false, 0, named("TestWhatAMasterForbidsToTakeBackStaysOwed")},
	{"what a master is asked to free, and does not, is read by nobody of its batch", "settling.go",
		"|| slices.Contains(s.kept, o.Key) {",
		"|| false && slices.Contains(s.kept, o.Key) {", false, 0, named("TestWhatIsReadBehindARefusedReleaseDoesNotCount")},
	{"a log that is switched off is told by the others, too", "inspect.go",
		"if k.master.DB == 0 && (!durable ||",
		"if false && (!durable ||", false, 0, named("TestLogThatWasSwitchedOffAtAFullMasterIsToldByTheOthers")},
	{"a grant of a master whose marker was gone by then is undone", "marking.go",
		"if read == \"\" && k.db.Boot()",
		"if false && k.db.Boot()", true, 0, named("TestUndoReachesAMasterThatWasFlushedBeforeItsGrant")},
	{"what is left without a ttl while a link lasts is looked for", "eternal.go",
		"looked, last, before = link, time.Now(), seen",
		"looked, last, before = link, time.Now().AddDate(99, 0, 0), seen", true, 0, named("TestWhatIsLeftWithoutTTLOnALinkThatLastsGoes")},
	{"what others may be owed while a link lasts is waited for", "../catchup/ghosts.go",
		"ghosts = h.before.twice(ghosts)",
		"_ = h.before.twice", true, 0, named("TestWhatIsOwedOnALinkThatLastsIsNoGhost")},
	{"what a quorum may hold is not read as nothing", "../decide/read.go",
		"case most+t.unknown+t.withheld+t.pending < t.Quorum():",
		"case most+t.pending < t.Quorum():", true, 0, named("TestReadOfWhatAQuorumMayHoldIsNoNil")},
	{"what a lost step has only watched it lets go of", "step.go",
		"record != nil && record.Changed()",
		"record != nil", false, 0, named("TestStepThatIsLostLetsGoOfWhatItOnlyWatched")},
	{"a lost step is taken back where its key ends when the step had it end", "fakestep_test.go",
		"!m.ends(k, args[5], args[6], args[7]) {",
		"!m.ends(k, args[5], args[6], args[7]) && false {", false, 0, named("TestLostStepIsNotTakenBackWhereItsKeyWasExtendedSince")},
	{"what is brought up lives as long as it does anywhere", "effect.go",
		"back.Left = max(back.Left, left, 1)",
		"back.Left = max(left, 1)", false, 0, named("TestWhatIsBroughtUpLivesAsLongAsItDoesAnywhere")},
	{"who has lost a database while nobody looked is not believed when it is opened", "examine.go",
		"gone.Nonce, gone.Why = marker.NewNonce(true), why",
		"gone.Why = why", false, 0, named("TestDatabaseThatIsOpenedKnowsWhoLostItWhileNobodyLooked")},
	{"the word that no locks are held lets nobody vote later who has voted in another process", "../members/bootstrapplan.go",
		"m.RunID == f.who.RunID && m.DB == db", "m.DB == db", false, 0, named("TestBootstrapThatIsCutOffLetsNobodyVoteLaterWhoHas")},
	{"what a master forgot is healed in databases that nobody uses", "unopened.go",
		"} else if e.unopened(db) != nil {",
		"} else {", true, 0, named("TestDatabasesThatNobodyUsesAreHealedAsWell")},
	{"a loss of the whole master is told in all of its databases", "marking.go",
		"of := fmt.Sprintf(\"%q:%q\", \"installation\", installation)",
		"of := \"none\"", false, 0, named("TestLossHoldsForDatabasesThatNobodyUses")},
	{"a look at a clock is compared with the sharpest", "../clock/anchor.go",
		"if now.At-now.Sent < a.above.At-a.above.Sent+(now.Sent-a.above.Sent)/100 {",
		"if true {", false, 0, named("TestNoChangeOfAClockHidesBehindAnotherLook").in("../clock")},
	{"a master is looked at while its link is open", "inspect.go",
		"if k.looksElsewhere() || now-k.looked < k.db.ProbeInterval {",
		"if true || now-k.looked < k.db.ProbeInterval {", false, 0, named("TestMasterThatBecomesUnfitUnderAnOpenConnectionStopsVoting")},
	{"a master that was far is waited for no longer than any", "../master/exchange.go",
		"if l.ctx.Done() == nil {\n\t\treturn",
		"if true {\n\t\treturn", true, 0, named("TestAMasterThatWasFarAndHangsIsDown")},
	{"what is taken back spares what ends sooner", "fakekeys_test.go",
		"\treturn from <= at && at <= to",
		"\treturn (true || from <= at) && at <= to", false, 0, named("TestUndoSparesWhatWasExtendedAtAnotherProxy")},
	{"an extension moves by more than an undo is vague", "fakekeys_test.go",
		"n = p + 51",
		"_ = p", false, 0, named("TestExtensionMovesByMoreThanAnUndoIsVague")},
	{"no vote from before a standstill counts", "settling.go",
		"o.put.Before(s.keeper.anew)",
		"false", false, 0, named("TestNoVoteFromBeforeAStandstillCountsWithOneFromAfter")},
	{"the time of day is that of a quorum of clocks", "../clock/timeofday.go",
		"return median, most >= quorum",
		"return median, most > 0", false, 0, named("TestWithoutAQuorumOfClocksThereIsNoTimeOfDay")},
	{"a lock that was freed since is not taken back", "undoing.go",
		"if q.sentSo.lockGoneSince(o.hash, q.db.lockHash(o.Key, o.Token), p) {",
		"if false {", false, 0, named("TestTakeBackSparesALaterLockOfTheToken")},
	{"a refusal tells only what a quorum names", "../decide/acquire.go",
		"return c.told(most)",
		"_ = most\n\t\treturn quorum.Contended", false, 0, named("TestRefusalTellsOnlyWhatAQuorumNames")},
	{"a key is not given again behind its release", "undoing.go",
		"if q.sentSo.lockFreedSince(o.hash, q.db.lockHash(o.Key, o.Token), o.sent[q.index].ordinal) {",
		"if false {", true, 0, named("TestKeyIsNotGivenAgainBehindItsRelease")},
	{"no command goes before what waits to be taken back on its key", "taking.go",
		"if len(q.errands) > 0 && min(room, len(ops)) > 0 {",
		"if false {", true, 0, named("TestAnsweredSetIsNotPutBackBehindAMegabyteOfOthers")},
	{"no command to a far master goes before what waits to be taken back on its key", "abreast.go",
		"\t\tif !fits {",
		"\t\tif false {", true, 0, named("TestAnsweredSetIsNotPutBackBehindAMegabyteOfOthers")},
	{"what is about all keys goes behind all that waits to be taken back", "abreast.go",
		"\t\t\tif len(s.queue.errands) > 0 {",
		"\t\t\tif false {", true, 0, named("TestNothingIsCarriedOutBeforeWhatIsToBeTakenBackOnItsKey")},
	{"locks do not wait for what is to be taken back of other keys", "taking.go",
		"n, waits = 0, waitingFor(q.errands)",
		"n, room = 0, 0", true, 0, named("TestLocksDoNotWaitForWhatIsToBeTakenBackOfOtherKeys")},
	{"an undo that met another expiry is tried once more", "undoing.go",
		"\tif d.again || d.eternal {",
		"\tif true {", true, 0, named("TestUndoIsNotEvadedByAnExpiry")},
	{"a read is as new as the last answered write", "../decide/read.go",
		"if l := c.lefts(&s); l.open(c.Quorum(), c.pending) {",
		"if l := c.lefts(&s); false && l.open(c.Quorum(), c.pending) {", false, 0, named("TestReadIsAsNewAsTheLastAnsweredWrite")},
	{"a proxy that has met other terms grants nothing", "installation.go",
		"if terms && i.bars == nil {",
		"if false {", false, 0, named("TestProxyThatMeetsOtherTermsGrantsNothingUntilRestarted")},
	{"a new process is excused once the others were asked", "durable.go",
		"if answered >= needed || ",
		"if true || answered >= needed || ", false, 0, named("TestDurableMasterWaitsForTheOthersUntilNoLockFromBeforeCanLive")},
	{"a log that was written anew has another name from its first look", "examine.go",
		"if next.Log == \"\" { // it",
		"if true { // it", false, 0, named("TestLogThatWasLeftBehindExcusesNobody")},
	{"a look that takes longer than a decision proves nothing", "examine.go",
		"if p.Clock.Vague(k.db.AcquireTimeout) {",
		"if false {", false, 0, named("TestLookLongerThanADecisionProvesNothing")},
	{"whether a log is whole is decided in database 0 for all others", "durable.go",
		"return zero.DiskLog(), zero.Whole, nil\n\t}\n\treturn \"\", false, nil",
		"return zero.DiskLog(), zero.Whole, nil\n\t}\n\treturn m.DiskLog(), true, nil", false, 0, named("TestMarkerThatIsDeletedInDatabase0TellsOfAllDatabasesOfANewProcess")},
	{"a log is asked for in another database while database 0 cannot be reached", "durable.go",
		"if !k.known.Durable || k.looksElsewhere() {",
		"if true {", false, 0, named("TestLogThatIsSwitchedOffWhileDatabase0CannotBeReachedExcusesNobody")},
	{"a new process has lost what it says itself", "../marker/identity.go",
		"who.Durable && who.Evicted <= 0 && !who.Continued",
		"who.Durable", false, 0, named("TestNewProcessThatHasLostKeysByItsOwnWordIsNotExcused")},
	{"that a log is left behind is told of a quarantined master, too", "inspect.go",
		"(!durable || k.known.Nonce.Provisional() && link.Who.Rewrites != k.rewrites)",
		"!durable", false, 0, named("TestLogThatIsLeftBehindInAQuarantineOfDatabase0ExcusesNobody")},
	{"no other database decides of a log before database 0 has", "../marker/verdict.go",
		"(m.Durable || db != 0)",
		"m.Durable", true, 0, named("TestAnotherDatabaseTakesNoVoteFromDatabase0")},
	{"a change of the set believes a log that was decided in database 0", "../members/changelook.go",
		"return err == nil && m.Whole",
		"return err == nil", false, 0, named("TestChangeOfTheSetBelievesNoRestoredDisk")},
	{"a lone proxy that has met a marker grants nothing", "examine.go",
		"p.Nonce != \"\" || k.db.engine.installation.metMarker() != nil",
		"false", false, 0, named("TestLoneProxyThatMeetsAMarkerGrantsNothingMore")},
	{"a first start admits only where all masters bear it", "../marker/firststart.go",
		"if !s.Bears(installation) || one[j] != s {",
		"if _ = j; s.Reached && !s.Bears(installation) {", false, 0, named("TestWhenAFirstMasterIsAdmitted").in("../marker")},
	{"whoever orders the same change means the same set", "../members/changeplan.go",
		"p.into = p.follows()",
		"p.into = marker.NewInstallation()", false, 0, named("TestTwoOperatorsMakeOneSetThoughTheFirstMasterForgotBetweenThem")},
	{"what one script of a catch-up reads is bounded", "../catchup/scripts.go",
		"if begun and n>room then return false end",
		"if false then return false end", false, 0, named("TestWhatOneScriptOfACatchUpReadsIsBounded")},
	{"what is too long for a catch-up is passed over", "../catchup/scripts.go",
		"if n>16777216 then return false,0 end\n",
		"", false, 0, named("TestWhatIsTooLongForACatchUpIsPassedOver")},
	{"a first start that is over admits nobody who was flushed since", "fakefirst_test.go",
		"&& strings.Contains(t, `\"first\":true`) {",
		"{", false, 0, named("TestFirstStartThatIsOverAdmitsNobodyWhoWasFlushedSince")},
	{"what was put in the place of a grant is not taken back with it", "acquire.go",
		"r.db.lanes[i].queue.undoLock(r.undoing(i, r.now), r.op, r.sent[i].ordinal, r.now)",
		"r.db.lanes[i].queue.undo(r.undoing(i, r.now), r.now)", false, 0, named("TestUndoOfAnAcquireTakesNoSetOfTheSameBatch")},
	{"what is deleted as a ghost was not written to since the first look", "../catchup/watched.go",
		"append([]string{\"WATCH\"}, keys...)",
		"append([]string{\"EXISTS\"}, keys...)", false, 0, named("TestLockThatIsTakenAnewAsItsMasterIsLookedAtStays")},
	{"what is under way at the first look is decided by the second", "../catchup/watched.go",
		"clock.Pause(ctx, h.times.Apart)",
		"clock.Pause(ctx, 1)", false, 0, named("TestWhatIsBeingAcquiredIsNoGhost")},
	{"it is known when a master that had hung did what may be taken back", "exchange.go",
		"(b.ops, (*op).undoable); b.headed {",
		"(b.ops, (*op).unsigned); b.headed {", true, 0, named("TestUndoReachesMastersThatHungBeforeTheyGranted")},
	{"since when a link is open is read with what is on it", "eternal.go",
		"	return l.source(), l.links, l.opened, l.open",
		"	link, since = l.links, l.opened\n\tl.mu.Unlock()\n\tl.mu.Lock()\n\treturn l.source(), link, since, l.open", true, 0, named("TestLinkIsNoOlderThanItIs")},
	{"a catch-up that lacks but what cannot be given is seldom repeated", "quarantine.go",
		"if catchup.Ungiven(err) {",
		"if false {", true, 0, named("TestOneKeyThatIsTooLongHasNotAllOthersReadOverAndOver")},
	{"nobody is said to remember who was admitted by hand", "unopened.go",
		"\"all masters vote again in",
		"\"all masters remember again what was granted in", true, 0, named("TestWhoIsAdmittedByHandIsNotSaidToRemember")},
	{"what only reads frees nothing", "sent.go",
		"if o.Script.Reads {",
		"if false {", true, 0, named("TestLostAcquireIsUndoneBesideAScriptThatOnlyReads")},
	{"what frees other keys frees not this one", "sent.go",
		"s.marks > recents && oldest.at > p {",
		"oldest != nil {", true, 0, named("TestLostAcquireIsUndoneBesideWhatFreesOtherKeys")},
	{"what came too late has freed nothing", "settling.go",
		"if !asked || late[i].TooLate() {",
		"if !asked {", true, 0, named("TestLateAcquireIsUndoneBeforeWhatIsTooLate")},
	{"max-hold sees a lock for as long as the masters hold it", "maxhold.go",
		"now.Add(padded+h.late), padded == 0",
		"now.Add(padded*99/100), padded == 0", true, 0, named("TestMaxHoldSeesALockForAsLongAsTheMastersHoldIt")},
	{"a lock is not kept for ever by what names no token", "attempt.go",
		"if o.Kind == quorum.Write && !db.heldLocks.keeps(",
		"if false && !db.heldLocks.keeps(", true, 0, named("TestMaxHoldEndsALockThatIsKeptByOtherWrites")},
}

// TestEachRuleIsNeeded takes the rules out one by one: each time the simulation, or a test,
// must find a promise broken, or it proves nothing about the rule.
func TestEachRuleIsNeeded(t *testing.T) {
	if !*withoutRules {
		t.Skip("run with -rules: it builds the package once for each rule")
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			found := r.without(t)
			if found == "" {
				t.Error("nothing was found")
				return
			}
			t.Log(found)
		})
	}
}

func TestEachRuleIsInTheSource(t *testing.T) {
	for _, r := range rules {
		source, err := os.ReadFile(r.file)
		if err != nil || strings.Count(string(source), r.old) != 1 {
			t.Errorf("%s: %s has %d places that look like %q, %v", r.name, r.file, strings.Count(string(source), r.old), r.old, err)
		}
	}
}

// A pattern that names no test passes whatever is taken out.
func TestEachRuleNamesATest(t *testing.T) {
	for _, r := range rules {
		files, err := filepath.Glob(filepath.Join(r.schedules.folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(r.schedules.simulation)
		if !slices.ContainsFunc(files, func(file string) bool {
			source, err := os.ReadFile(file)
			return err == nil && slices.ContainsFunc(testFunction.FindAllStringSubmatch(string(source), -1), func(found []string) bool {
				return named.MatchString(found[1])
			})
		}) {
			t.Errorf("%s: no test in %q is named %s", r.name, r.schedules.folder, r.schedules.simulation)
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// without simulates the package without the rule, and returns what it found.
func (r rule) without(t *testing.T) string {
	dir := t.TempDir()
	source, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(r.file)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, filepath.Base(r.file))
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), r.old, r.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, _ := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-vet=off", "-timeout", "30m", "-overlay", list, "-run", r.schedules.simulation}
	run := func(more ...string) ([]byte, error) {
		return exec.Command("go", append(slices.Clip(args), more...)...).CombinedOutput()
	}
	var out []byte
	if r.schedules.folder != "" {
		out, err = run(r.schedules.folder)
	} else {
		args = append(append(args, "-seed", fmt.Sprint(max(uint64(r.seed), *seedFlag))), r.schedules.flags...)
		if !r.leaves {
			args = append(args, "-holders")
		}
		// A seed does not always find what it has found once.
		out, err = run("-schedules", "3", "-count", "20", "-failfast", ".")
		if err == nil {
			out, err = run("-schedules", fmt.Sprint(r.schedules.most), ".")
		}
	}
	if err == nil {
		return ""
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		for _, sign := range []string{"seed ", "--- FAIL: "} {
			if i := strings.Index(line, sign); i >= 0 {
				return line[i:]
			}
		}
	}
	t.Fatalf("it was not simulated: %v\n%s", err, out)
	return ""
}
