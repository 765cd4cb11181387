// Package transcript reads and holds conversations with a Redis server: files that
// are documentation, unit test and comparison with a real Redis in one.
//
//	# A key that is taken is left alone.
//	> SET lock:a t1 NX PX 30000
//	< +OK
//	2> SET lock:a t2 NX PX 30000
//	< _
//
// What is sent begins with > and is quoted as in redis-cli: "a\x00b\n" or 'a b'.
// 2> is sent by a second client, who connects when first heard of. The lines that
// begin with < are the reply, one for each RESP value:
//
//	+OK  -ERR text  :1  $text  _   a status, an error, an integer, a bulk string, any null
//	*2                             an array, its elements on the lines that follow
//	%1  ~2                         a map of one pair, a set; arrays in RESP2
//	,1.5                           a double; a bulk string in RESP2
//	:100..200                      an integer in this range
//	:{id}                          any integer, which {id} stands for from here on
//	$~regexp  -~regexp  +~regexp   text that matches
//	*?                             an array, map or set of any length
//	...                            whatever follows in this reply
//	(closed)                       the server has closed the connection
//
// A push begins with >3 and is an array in RESP2. Each begins a reply of its own,
// also among the replies to one command. What a client gets without having sent
// anything is told by lines with its number:
//
//	2> PUBLISH news hello
//	< :1
//	1< >3
//	1< $message
//	1< $news
//	1< $hello
//
// Text has the escapes \n \r \t \\ and \xHH. A verbatim string is a bulk string
// here. A command without a reply has no < line.
//
// A line that begins with ! is no command: "! wait 60ms" lets time pass, and
// "! masters HSET h f v" is a command put to the masters (or to the one real
// Redis) past the proxy. "@ proxy-only" and "@ redis-only" hold for the next
// command or ! line. At the head of a file stand
//
//	@ file proxy-only    (or redis-only) for the whole file
//	@ file resp2         it begins in RESP2 and switches by itself, if at all
//	@ file password s3   the server asks for this password; begins in RESP2
//
// A file expects that the keys it names do not exist.
package transcript
