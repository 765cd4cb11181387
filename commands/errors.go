package commands

import (
	"fmt"
	"strings"
	"time"

	"redlock-proxy/commands/glob"
	"redlock-proxy/quorum"
)

// Redis's own words. Clients compare them byte by byte.
const (
	errSyntax          = "ERR syntax error"
	errNotInteger      = "ERR value is not an integer or out of range"
	errNotInt32        = "ERR value is out of range, value must between -2147483648 and 2147483647"
	errWrongType       = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNXAndOthers     = "ERR NX and XX, GT or LT options at the same time are not compatible"
	errGTAndLT         = "ERR GT and LT options at the same time are not compatible"
	errNoAuth          = "NOAUTH Authentication required."
	errWrongPass       = "WRONGPASS invalid username-password pair or user is disabled."
	errNoPassword      = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	errNoProto         = "NOPROTO unsupported protocol version"
	errProtoNotInteger = "ERR Protocol version is not an integer or out of range"
	errHelloNoAuth     = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	errClientName      = "ERR Client names cannot contain spaces, newlines or special characters."
	errKillID          = "ERR client-id should be greater than 0"
	errListID          = "ERR Invalid client ID"
	errMaxAge          = "ERR maxage is not an integer or out of range"
	errMaxAgeSmall     = "ERR maxage should be greater than 0"
	errDBIndex         = "ERR DB index is out of range"
	errSameObject      = "ERR source and destination objects are the same"
	errNoScript        = "NOSCRIPT No matching script. Please use EVAL."
	errTooManyKeys     = "ERR Number of keys can't be greater than number of args"
	errNegativeKeys    = "ERR Number of keys can't be negative"
	errScriptFlush     = "ERR SCRIPT FLUSH only support SYNC|ASYNC option"
	errScriptKill      = "NOTBUSY No scripts in execution right now."
	errReadOnlyScript  = "ERR Write commands are not allowed from read-only scripts."
	errShebang         = "ERR Invalid script shebang"
	errShebangEngine   = "ERR Unexpected engine in script shebang: %s"
	errShebangOption   = "ERR Unknown lua shebang option: %s"
	errShebangFlag     = "ERR Unexpected flag in script shebang: %s"
	errShebangWrites   = "ERR Can not execute a script with write flag using *_ro command."
	errNoCluster       = "ERR This instance has cluster support disabled"
	errGetKeysCommand  = "ERR Invalid command specified"
	errGetKeysNumber   = "ERR Invalid number of arguments specified for command"
	errGetKeysInvalid  = "ERR Invalid arguments specified for command"
	errGetKeysNone     = "ERR The command has no key arguments"
	errListening       = "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"

	errLongLock     = "NOPERM User %s may take no lock for longer than %s, or for ever (max-ttl)"
	errManyLocks    = "NOPERM User %s holds or awaits %d locks, as many as he may (max-locks)"
	errLongLockName = "NOPERM User %s may take no lock whose name has more than %d bytes (max-locks)"
	errNotCounted   = "NOPERM User %s takes no locks by a transaction, in which they are not counted (max-locks)"
	errUntoldLock   = "NOPERM User %s has %s, which is judged of SET and of scripts that are recognised; what else may set a key is refused"

	errNestedMulti       = "ERR MULTI calls can not be nested"
	errWatchInMulti      = "ERR WATCH inside MULTI is not allowed"
	errExecAlone         = "ERR EXEC without MULTI"
	errDiscardAlone      = "ERR DISCARD without MULTI"
	errExecAbort         = "EXECABORT Transaction discarded because of previous errors."
	errExecAbortOf       = "EXECABORT Transaction discarded because of: "
	errDelexType         = "ERR Key should be of string type if conditions are specified"
	errDelexCondition    = "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"
	errNoOption          = "ERR Unknown option or number of arguments for CONFIG SET - '%s'"
	errOptionRefused     = "ERR CONFIG SET failed (possibly related to argument '%s') - %s"
	errNotRewritten      = "ERR Rewriting config file: "
	errNoConfigFile      = "ERR The server is running without a config file"
	errMonitors          = "ERR Replica can't interact with the keyspace"
	errSlowlogCount      = "ERR count should be greater than or equal to -1"
	errTimeoutNotInteger = "ERR timeout is not an integer or out of range"
	errTimeoutNotFloat   = "ERR timeout is not a float or out of range"
	errNumKeys           = "ERR numkeys should be greater than 0"
	errPopCount          = "ERR count should be greater than 0"
	errTimeoutRange      = "ERR timeout is out of range"
	errTimeoutNegative   = "ERR timeout is negative"
	errCursor            = "ERR invalid cursor"
	errRedirect          = "ERR The client ID you want redirect to does not exist"
	errCaching           = "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"
	errCachingYes        = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
	errCachingNo         = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
	errRedirectTwice     = "ERR A client can only redirect to a single other client"
	errPrefix            = "ERR PREFIX option requires BCAST mode to be enabled"
	errSwitchBcast       = "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode."
	errBcastOpts         = "ERR OPTIN and OPTOUT are not compatible with BCAST"
	errOptBoth           = "ERR You can't specify both OPTIN mode and OPTOUT mode"
	errSwitchOpt         = "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode."
	errPrefixExists      = "ERR Prefix '%s' overlaps with an existing prefix '%s'. Prefixes for a single client must not overlap."
	errPrefixTwice       = "ERR Prefix '%s' overlaps with another provided prefix '%s'. Prefixes for a single client must not overlap."
	errUnblocked         = "UNBLOCKED client unblocked via CLIENT UNBLOCK"
	errUnblock           = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"

	// NoSuchClient is what the old form of CLIENT KILL answers if nobody has
	// that address.
	NoSuchClient = "ERR No such client"
)

// The proxy's own words.
const (
	errScriptLong   = "ERR the script is longer than %d bytes"
	errTTLTooLong   = "ERR the ttl is longer than max-ttl (%s), which over-max-ttl refuses"
	errNoTTL        = "ERR a key without a ttl outlives max-ttl (%s), which over-max-ttl refuses"
	errNoQuorum     = "NOQUORUM %d of %d masters can vote, %d are needed"
	errFewAnswers   = "NOQUORUM %d of %d masters gave an answer, %d are needed"
	errFewHeard     = "NOQUORUM %d of %d masters can be heard, %d are needed"
	errCopyDB       = "ERR COPY to another database is not for this proxy: masters vote on one"
	errNoTime       = "NOQUORUM no quorum of the masters' clocks agrees on the time of day"
	errManyNames    = "ERR a client may subscribe to no more than %d %s"
	errLongNames    = "ERR a client may subscribe to patterns of no more than %d bytes in all"
	errChannelName  = "ERR the name of a channel or a pattern is longer than %d bytes"
	errLongPattern  = "ERR the pattern is longer than %d bytes"
	errTracking     = "ERR CLIENT TRACKING ON is refused: %v"
	errBcastKeys    = "NOPERM CLIENT TRACKING with BCAST is for users who may read all keys"
	errPrefixes     = "ERR a client may track no more than %d prefixes"
	errNoGraph      = "ERR LATENCY GRAPH is not drawn by this proxy: LATENCY HISTORY tells the same"
	errNoDigest     = "ERR %s is not known to this proxy: compare values by IFEQ or IFNE"
	errTooManyBytes = "ERR '%s' with more than %d bytes is refused"
	errTooManyWords = "ERR '%s' with more than %d words is refused"
	errWatchBytes   = "ERR the watched strings come to more than %d bytes"
	errWatchMany    = "ERR a connection may watch no more than %d keys"
	errWatchDB      = "ERR the watched keys are in database %d: a transaction is about one"
	errScriptsLong  = "ERR the scripts of a transaction may have no more than %d bytes of text in all"
	errQueueFull    = "ERR a transaction may queue no more than %d commands, %d words and %d bytes"
	errNotQueued    = "ERR %s cannot be queued: a transaction carries out commands on strings, hashes, lists, sets and sorted sets"
	errNoACLFile    = "ERR This Redis instance is not configured to use an ACL file. You may want to name one with aclfile: CONFIG REWRITE stores no users."
	errACLNotSaved  = "ERR There was an error trying to save the ACLs. Please check the server logs for more information"
	errGenPass      = "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096"
	errManyKeys     = "ERR KEYS lists no more than %d keys, and looks at no more than about %d: use SCAN"
	errPrivateKey   = "ERR keys that begin with redlock-proxy:{ are the proxy's own"
	errKeyName      = "ERR the name of a key is longer than %d bytes"
	errTTLTooShort  = "ERR the ttl is too short: half of it was over before the masters had decided, so ask for %d ms or more"
	errNoTwoAlike   = "NOQUORUM %d of %d masters voted, but no %d of them alike"
)

var longPattern = fmt.Sprintf(errLongPattern, glob.MaxLength)

// refuse is the Action that answers with this error.
func refuse(text string) Action { return Action{Reply: Error(text)} }

// refusef is refuse with a client's words in the text. Line ends become spaces, or nothing
// where the text ends, as in Redis: an error is one line.
func refusef(format string, args ...any) Action { return refuse(oneLine(fmt.Sprintf(format, args...))) }

var lineEnds = strings.NewReplacer("\r", " ", "\n", " ")

func oneLine(s string) string { return lineEnds.Replace(strings.Trim(s, "\r\n")) }

// quoted is how Redis prints a client's word with %.*s: up to its first zero
// byte, and no longer than max bytes.
func quoted(s string, max int) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s[:min(len(s), max)]
}

// errorWords is how much of a client's words Redis repeats in an error.
const errorWords = 128

func unknownCommand(args []string) Action {
	var words strings.Builder
	for _, arg := range args[1:] {
		if words.Len() >= errorWords {
			break
		}
		fmt.Fprintf(&words, "'%s' ", quoted(arg, errorWords-words.Len()))
	}
	return refusef("ERR unknown command '%s', with args beginning with: %s", quoted(args[0], errorWords), words.String())
}

func unknownSubcommand(container *Command, word string) Action {
	return refusef("ERR unknown subcommand '%s'. Try %s HELP.", quoted(word, errorWords), strings.ToUpper(container.Name))
}

func wrongArity(c *Command) Action {
	return refusef("ERR wrong number of arguments for '%s' command", c.Name)
}

func invalidExpire(name string) string {
	return "ERR invalid expire time in '" + name + "' command"
}

// inScript is how an error reads that a command met inside a script.
func inScript(text, sha string) string {
	return text + " script: " + sha + ", on @user_script:1."
}

func tooLong(max time.Duration) string { return fmt.Sprintf(errTTLTooLong, max) }
func noTTL(max time.Duration) string   { return fmt.Sprintf(errNoTTL, max) }

// Unblocked answers whose acquire is not to wait any longer.
var Unblocked = Error(errUnblocked)

// NoTime answers what needs the time of day while that is not known.
var NoTime = Error(errNoTime)

// unavailable is the error of a result that no quorum decided.
func unavailable(r quorum.Result) Reply {
	if r.Shortest > 0 {
		return Error(fmt.Sprintf(errTTLTooShort, r.Shortest.Milliseconds()))
	}
	if r.NoTime {
		return NoTime
	}
	text := fmt.Sprintf(errNoQuorum, r.Voted, r.Masters, r.Needed)
	if r.Decision == quorum.Split {
		text = fmt.Sprintf(errNoTwoAlike, r.Voted, r.Masters, r.Needed)
	}
	if r.Why != "" {
		text += ": " + r.Why
	}
	return Error(text)
}
