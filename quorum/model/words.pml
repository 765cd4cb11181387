/* The words of the model: what a master holds, what a client and its proxy
 * know. One key. A client's token is the client itself, so a client that asks
 * again asks with the same token. There is no clock: what a clock would forbid
 * is forbidden by a guard (see ends), and everything else may happen at any time. */

#ifndef N
#define N 3
#endif
#ifndef CLIENTS
#define CLIENTS 2
#endif
#define QUORUM (N / 2 + 1)
#ifdef FEWER_SOURCES
#define SOURCES (N - QUORUM)
#else
#define SOURCES (N - QUORUM + 1)
#endif

/* How often each thing may happen: the bounds that make the walk end. */
#ifndef TRIES0
#define TRIES0 2
#endif
#ifndef TRIES1
#define TRIES1 1
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef EXTENDS
#define EXTENDS 0
#endif
#ifndef JUMPS
#define JUMPS 0
#endif
#ifndef PROXIES
#define PROXIES 0 /* that do catch-up */
#endif
#ifndef FIRST_LOST
#define FIRST_LOST (N - 1) /* masters from this one on can forget or jump */
#endif

/* A master: what it holds of the key, and its marker. */
#define FRESH 0 /* expires when the lock does, or later */
#define SHORT 1 /* has the ttl from before the last extend */
#define OLD   2 /* is left from an earlier attempt of its owner */
byte owner[N]; /* 0, or the client that signed it, plus one */
byte age[N];
bit  trusted[N]; /* the marker is an admission, not provisional */
byte nonce[N];
bit  jumped[N]; /* its clock moved, and nobody has seen it */

/* A client at its proxy. */
#define IDLE      0
#define ACQUIRING 1
#define HOLDING   2
#define EXTENDING 3
byte phase[CLIENTS];
byte tries[CLIENTS];
byte extends[CLIENTS];
bit  extended[CLIENTS]; /* the last extend of this lock was answered yes */
byte counted[CLIENTS];  /* the masters whose votes won the lock, or its extension */

/* What a client's op has come to on each master. */
#define NONE    0
#define QUEUED  1 /* behind what the lane still owes */
#define SENT    2
#define PROVING 3 /* granted, and the batch's trailing GET still to come */
#define GRANTED 4
#define NO      5 /* refused, or withheld with nothing to undo */
#define HELD    6 /* granted, but withheld */
#define ASKED   7 /* to extend */
byte vote[CLIENTS * N];
byte expect[CLIENTS * N]; /* the nonce that was known when the batch was sent */

/* What a lane owes to a master before anything newer. */
#define NOTHING  0
#define LATE_SET 1 /* still to be carried out; its client has heard "no" */
#define UNDO     2 /* compare-and-delete, of an undo or a release */
byte owed[CLIENTS * N];

#define L(c, x) ((c) * N + (x))
#define ME(c) ((c) + 1)

#ifdef UNDO_LATE
bit unsaid[CLIENTS * N]; /* an undo that its client did not wait for */
#endif

/* What each proxy has read on each source, for a catch-up. */
#define GOT (PROXIES * N + 1)
#define UNREAD 255
byte got_owner[GOT]; /* 0, an owner, or UNREAD */
byte got_age[GOT];
byte got_nonce[GOT]; /* the source's nonce when its SCAN began; 0: no source */

/* As the transcripts say it: clients are A, B, C; a copy is its owner, and s if its
 * ttl is the one from before an extension, o if it is from an earlier attempt. */
#define NAME(k) (65 + (k))
#define COPY(o, a) (o == 0 -> 45 : 64 + o), (a == SHORT -> 115 : (a == OLD -> 111 : 32))

/* since[x] are the locks from before the last loss of master x, those that were
 * being acquired at that moment included. */
byte since[N];

#define holds(c) (phase[c] == HOLDING || phase[c] == EXTENDING)

/* An op of client k counts a vote that the last loss of master m made void. */
#define OLD_VOTE(k, m) (m >= FIRST_LOST && vote[L(k, m)] == GRANTED && expect[L(k, m)] != nonce[m])

/* A copy may expire as soon as nobody relies on it. A copy with the ttl from
 * before an extension outlives the extension's decision, not the lock. */
#define ENDS(k, m) (phase[k] == IDLE || age[m] == OLD || jumped[m] || (age[m] == SHORT && phase[k] == HOLDING && extended[k]))

/* The first invariant: never two holders. */
#if CLIENTS == 3
#define TWO_HOLDERS(k) assert(holds(0) + holds(1) + holds(2) == 1)
#else
#define TWO_HOLDERS(k) assert(!holds(1 - k))
#endif

/* The others each stand where they could be broken. JUST_HOLDERS leaves them out:
 * a rule's absence is then shown by the two holders that it leads to. */
#ifdef JUST_HOLDERS
#define claim(x) skip
#else
#define claim(x) assert(x)
#endif

inline remove(m) { owner[m] = 0; age[m] = FRESH }

/* A lock's end, by release or by its ttl: nothing in the world relies on it. */
inline over(k) {
	phase[k] = IDLE; extended[k] = 0; counted[k] = 0;
	for (j : 0 .. N - 1) { since[j] = since[j] & ~(1 << k) }
}

/* A master that must not vote: a provisional marker with a nonce of its own
 * stands in place of what was there. */
inline quarantine(m) {
	jumped[m] = 0;
	nonce[m]++;
	since[m] = 0;
	for (j : 0 .. CLIENTS - 1) {
		if
		:: phase[j] != IDLE -> since[m] = since[m] | (1 << j)
		:: else
		fi
	}
#ifdef NO_QUARANTINE
	trusted[m] = 1
#else
#ifdef NO_RUN_ID /* the old dump brings the old marker along */
	trusted[m] = 1; nonce[m]--
#else
	trusted[m] = 0
#endif
#endif
}

#ifndef LEFTOVERS
#define LEFTOVERS 1 /* 0: nothing is lost and no ttl runs out, so none may be met */
#endif

/* A cut connection, see cut.pml. */
#ifdef CUTS
#define LAST (N - 1)
byte cuts = CUTS;
bit  cut;       /* and not connected again */
bit  moved;     /* the client went on by another proxy */
bit  debt;      /* owed by the proxy that the client left */
byte socket;    /* NOTHING, LATE_SET or UNDO: what the old connection still holds */
bit  socket_old; /* the client has asked anew since */
#define BLOCKED(c, x) (cut && !moved && c == 0 && x == LAST)

#else
#define BLOCKED(c, x) false
#endif
