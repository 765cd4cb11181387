package recognise

// Script tells what a script comes to, if it is exactly one
// compare-and-delete, one compare-and-expire or one acquire of one key. Whatever else the
// script might do, in whatever state of the key, makes it unrecognised.
func Script(text string) (Shape, bool) {
	script, ok := parse(text)
	if !ok {
		return Shape{}, false
	}
	if s, ok := acquire(script); ok {
		return s, true
	}
	return compare(script)
}

// compare tells what a script comes to that compares its key with a token.
func compare(script []statement) (Shape, bool) {
	var b bindings
	usual, ok1 := outcomesOf(script, assumption{expires: true}, &b)
	adding, ok2 := outcomesOf(script, assumption{expires: true, adds: true}, &b)
	persisting, ok3 := outcomesOf(script, assumption{}, &b)
	if !ok1 || !ok2 || !ok3 {
		return Shape{}, false
	}
	s, ok := usual.shape(b)
	if !ok || adding != usual.adding(b) || persisting != usual.persisting(b, s.NeedsTTL) {
		return Shape{}, false
	}
	return s, true
}

// outcomes are what a script does in each state of its key.
type outcomes struct {
	held, heldForEver, other, absent outcome
}

// outcomesOf carries a script out on each state of its key.
func outcomesOf(script []statement, assumed assumption, b *bindings) (o outcomes, ok bool) {
	var otherForEver, noString, noStringForEver outcome
	for _, state := range []struct {
		key     keyState
		ttl     bool
		outcome *outcome
	}{
		{holdsToken, true, &o.held},
		{holdsToken, false, &o.heldForEver},
		{holdsOther, true, &o.other},
		{holdsOther, false, &otherForEver},
		{absent, false, &o.absent},
		{holdsNoString, true, &noString},
		{holdsNoString, false, &noStringForEver},
	} {
		assumed.key, assumed.ttl = state.key, state.ttl
		if *state.outcome, ok = carryOut(script, assumed, b); !ok {
			return outcomes{}, false
		}
	}
	return o, o.other == otherForEver && noString.raised && noStringForEver.raised
}
