package resp

// ProtocolError is what a client hears before it is cut off: Redis's words
// behind "ERR Protocol error: ".
type ProtocolError string

// Error is the line that the client hears, without the minus sign of the protocol.
func (e ProtocolError) Error() string { return "ERR Protocol error: " + string(e) }

// QueryLimit is a ProtocolError that Redis does not answer: it closes the
// connection without a word.
const QueryLimit = ProtocolError("query buffer limit")
