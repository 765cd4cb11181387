// Package resp reads and writes the bytes of Redis's protocol: commands under limits, and
// replies in RESP2 or RESP3. It knows no connection: it neither reads nor waits, and what
// it keeps of a stream is bounded, however the stream is cut.
//
// The way in: a Scanner finds where a command ends in bytes that come as they come, and
// refuses what is not well formed or beyond its Limits; a Parser takes the bytes of that
// one command apart. The refusals are ProtocolErrors, in Redis's words, after which the
// stream cannot go on.
//
//	s := resp.Scanner{Limits: resp.Limits{}.WithDefaults()}
//	n, end, err := s.Next(p)         // p[:n] belongs to the command
//	args, err := parser.Parse(raw, s.Limits.MaxArgs) // all of it, once it ends
//
// The way out: Append encodes a reply at once. What NewLong calls long is encoded in
// Pieces by whoever writes it, so that it takes no memory while it waits.
//
// Redcon's parser and writer are used, never its server: the Scanner lets no byte through
// to the parser that could hurt it. No other package of the program imports redcon.
package resp
