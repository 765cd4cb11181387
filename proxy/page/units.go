package page

import (
	"strconv"
	"time"
)

// Time is in JSON of RFC 3339, in UTC and with milliseconds; the zero Time is null.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return time.Time(t).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z07:00"`), nil
}

// Millis is in JSON a number of milliseconds, with as many of its thousandths as there are.
type Millis time.Duration

// MarshalJSON implements json.Marshaler.
func (d Millis) MarshalJSON() ([]byte, error) {
	us := time.Duration(d).Microseconds()
	return strconv.AppendFloat(nil, float64(us)/1000, 'f', -1, 64), nil
}

// Micros is in JSON a whole number of microseconds.
type Micros time.Duration

// MarshalJSON implements json.Marshaler.
func (d Micros) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(d).Microseconds(), 10), nil
}
