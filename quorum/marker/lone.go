package marker

import (
	"redlock-proxy/quorum"
)

// errOfASet is an ErrOtherTerms: a lone proxy's master bears a marker.
type errOfASet struct{ *Unfit }

func (e *errOfASet) Is(err error) bool { return err == quorum.ErrOtherTerms }

func (e *errOfASet) Unwrap() error { return e.Unfit }

// OfASet is the error that a lone proxy's master bears a marker, which is text.
func OfASet(text string) error {
	what := "it bears a marker, so that it is one of a set of masters, or was"
	if m, err := Parse(text); err == nil {
		what = "it bears the marker of a set, which has " + m.Terms.String()
	}
	return &errOfASet{NewUnfit(
		what+", and a proxy that is given it alone would grant what the set's proxies grant as well",
		"name all masters of the set; or, if it is nobody's any more, delete the key "+quorum.MarkerKey+" there in every database, and start the proxy again",
	)}
}
