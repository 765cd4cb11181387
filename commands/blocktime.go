package commands

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Redis keeps a time to wait in a long double and rounds it up to milliseconds: what is no time to a float64 is one
// there, and what is little less than none is for ever.
const (
	longDoublePrec  = 64     // bits
	longDoubleOver  = 16384  // two to this is too much
	longDoubleUnder = -16446 // and to this too little: the nearest that there is, is nothing
	longDoubleText  = 5 << 10

	// longestBlock is for ever to whoever waits for it.
	longestBlock = 100 * 365 * 24 * time.Hour
)

// blockTime is how long somebody waits, in seconds with a fraction, or what is wrong with it.
func blockTime(word string) (time.Duration, string) {
	seconds, ok := longDouble(word)
	if !ok {
		return 0, errTimeoutNotFloat
	}
	ms := new(big.Float).SetPrec(longDoublePrec).Mul(seconds, big.NewFloat(1000))
	switch {
	case ms.Cmp(new(big.Float).SetInt64(math.MaxInt64)) > 0:
		return 0, errTimeoutRange
	case ms.Cmp(big.NewFloat(-1)) <= 0:
		return 0, errTimeoutNegative
	case ms.Sign() <= 0, ms.Cmp(big.NewFloat(float64(longestBlock/time.Millisecond))) > 0:
		return 0, ""
	}
	n, exactly := ms.Int64()
	if exactly == big.Below {
		n++
	}
	return time.Duration(n) * time.Millisecond, ""
}

// longDouble reads a number as Redis does, by C's strtold. It is false for what is none, or is too large or too small.
func longDouble(word string) (*big.Float, bool) {
	number := lower(word)
	exponent := "e"
	if strings.Contains(number, "0x") {
		if exponent = "p"; !strings.Contains(number, exponent) { // which C does not ask for
			number += "p0"
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if len(word) >= longDoubleText || errors.Is(err, strconv.ErrSyntax) || math.IsNaN(f) || strings.Contains(word, "_") { // which Go reads over
		return nil, false
	}
	digits, _, _ := strings.Cut(number, exponent)
	switch {
	case strings.Contains(number, "inf"):
		return big.NewFloat(f), true
	case strings.Trim(digits, "+-0x.") == "": // whatever the exponent is
		return new(big.Float), true
	}
	x, _, err := new(big.Float).SetPrec(longDoublePrec).Parse(number, 0)
	if err != nil || x.IsInf() {
		return nil, false
	}
	least := new(big.Float).SetMantExp(big.NewFloat(1), longDoubleUnder)
	return x, x.MantExp(nil) <= longDoubleOver && new(big.Float).Abs(x).Cmp(least) > 0
}
