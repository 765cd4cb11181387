package quorum

// Databases is how many databases there are, as in Redis: 0 to Databases-1.
const Databases = 16

// MaxMasters is how many masters one set may have: the votes of all of them
// share one 64-bit word.
const MaxMasters = 15
