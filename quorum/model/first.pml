/* The first start of a set of masters, and the loss of everything: see
 * quorum/README.md. One walk cannot be cut in two, so this is long.
 * Two proxies, with a client at each. Proxy 1 has masters 1 to 3, proxy 2 as many, of
 * which the first is master 1+SHIFT; OTHER_TERMS says that they differ in something. */

#ifndef SHIFT
#define SHIFT 0
#endif
#define MASTERS (3 + SHIFT)
#ifndef LOSSES
#define LOSSES 0 /* a master forgets its keys and its marker */
#endif
#ifndef TOTALS
#define TOTALS 0 /* all of them do at once */
#endif
#ifndef RESTARTS
#define RESTARTS 0 /* a master forgets its keys, but not its marker: an old dump */
#endif
#ifndef DEATHS
#define DEATHS 0 /* a proxy dies and is started anew */
#endif
#define NAME(k) (65 + (k))

/* Installations: 1 is there from the beginning in a world that was STARTED; proxy p
 * draws 2+p, and later 4+p. */
#ifdef OTHER_TERMS
#define TERMS_OF(i) ((i) == 1 -> 0 : (i) & 1)
#define TERMS (p)
#else
#define TERMS_OF(i) 0
#define TERMS 0
#endif

/* A master: the installation that its marker names (0: there is none), and what that
 * says. stale: it votes by its marker, but its process was started anew. */
byte inst[MASTERS];
bit first[MASTERS];
bit votes[MASTERS];
#if RESTARTS > 0
bit stale[MASTERS];
#define VOTES(x) (votes[x] && !stale[x])
#define STALE(x) (votes[x] && stale[x])
#define fresh_process(x) stale[x] = 0
#else
#define VOTES(x) votes[x]
#define STALE(x) false
#define fresh_process(x) skip
#endif
byte owner[MASTERS]; /* 0, or the client plus one */
byte since[MASTERS]; /* the locks that were alive when it was marked */

#define ACQUIRING 0
#define HOLDING   1
#define OVER      2
byte phase[2];
byte granted[2];
#define ALIVE(c) (phase[c] == HOLDING || granted[c] != 0)
#define LIVE (ALIVE(0) | (ALIVE(1) << 1))

/* A proxy. What it does to a master is decided by one look at all of them (every nonce
 * is read twice), and done later, if the nonce there is still the one that was read. */
byte known[2];   /* the installation, 0 before any is known */
byte drawn[2];   /* how often it drew one */
bit  refused[2]; /* it has met other terms */
bit  gone[2];
byte mine[2];    /* the first marks that it has written and may take back */
byte unseen[2];  /* masters that others marked since it looked last */
byte running[2]; /* of its own first start: the next master plus one */
#define NOTHING    0
#define QUARANTINE 1 /* a provisional marker, in the place of none or another */
#define ADMIT      2
byte act[2];
byte at[2];
byte into[2];
bit  as_first[2];

byte losses = LOSSES, restarts = RESTARTS, totals = TOTALS, deaths = DEATHS;
byte calm;   /* nothing goes wrong any more: 1, or, if one proxy is left, 2 plus that */
byte writes; /* since then */

/* What proxy p sees on its masters. */
#define X(k) ((p == 0 -> 0 : SHIFT) + (k))
#define SET_OF(p) (7 << (p == 0 -> 0 : SHIFT))
#define IN(s, x) (((s) >> (x)) & 1)
#define STRANGE(x) (inst[x] != 0 && TERMS_OF(inst[x]) != TERMS)
#define MEETS_OTHERS (STRANGE(X(0)) || STRANGE(X(1)) || STRANGE(X(2)))
#define BLANK(x) (inst[x] == 0)
#define ALL_BLANK (BLANK(X(0)) && BLANK(X(1)) && BLANK(X(2)))
#define BEARS(x, i) (inst[x] == (i))
#define ALL_BEAR(i) (BEARS(X(0), i) && BEARS(X(1), i) && BEARS(X(2), i))
#define NONE_BEARS(i) (!BEARS(X(0), i) && !BEARS(X(1), i) && !BEARS(X(2), i))
#define VOTES_IN(x, i) (BEARS(x, i) && VOTES(x))
#define ONE_VOTES(i) (VOTES_IN(X(0), i) || VOTES_IN(X(1), i) || VOTES_IN(X(2), i))
#ifndef FIRST_BY_NAME
#define SAME(x, y) (VOTES(x) && VOTES(y) && inst[x] == inst[y])
#define VOTING (SAME(X(0), X(1)) || SAME(X(0), X(2)) -> inst[X(0)] : (SAME(X(1), X(2)) -> inst[X(1)] : VOTING_BY_NAME))
#else
#define VOTING VOTING_BY_NAME
#endif
#define VOTING_BY_NAME (VOTES(X(0)) -> inst[X(0)] : (VOTES(X(1)) -> inst[X(1)] : (VOTES(X(2)) -> inst[X(2)] : 0)))
#define KEPT(x) (inst[x] != 0 && !first[x])
#define NOT_FIRST (KEPT(X(0)) -> inst[X(0)] : (KEPT(X(1)) -> inst[X(1)] : (KEPT(X(2)) -> inst[X(2)] : 0)))
#define LOWEST (inst[X(0)] != 0 -> inst[X(0)] : (inst[X(1)] != 0 -> inst[X(1)] : inst[X(2)]))
#ifdef OWN_STANDS
#define STANDS (known[p] != 0 -> known[p] : LOWEST)
#else
#define STANDS (VOTING != 0 -> VOTING : (NOT_FIRST != 0 -> NOT_FIRST : LOWEST))
#endif

/* A nonce has changed: what was decided for another is not done. */
#ifdef ACTS_ANYHOW
#define drop(p, x) skip
#else
#define drop(p, x) \
	if \
	:: act[p] != NOTHING && at[p] == x -> act[p] = NOTHING; at[p] = 0; into[p] = 0; as_first[p] = 0 \
	:: else \
	fi
#endif

inline clear(x) {
	inst[x] = 0; first[x] = 0; votes[x] = 0; since[x] = 0; fresh_process(x);
	mine[0] = mine[0] & ~(1 << (x)); mine[1] = mine[1] & ~(1 << (x));
	drop(0, x); drop(1, x)
}

inline mark(x, i, f) {
	clear(x);
	inst[x] = i; first[x] = f; since[x] = LIVE;
#ifdef OTHER_TERMS
	if
	:: !gone[1 - p] && !refused[1 - p] && IN(SET_OF(1 - p), x) -> unseen[1 - p] = unseen[1 - p] | (1 << (x))
	:: else
	fi;
#endif
	if
	:: calm -> writes++; assert(writes < 40) /* it comes to an end */
	:: else
	fi
}

inline start_anew() {
	known[p] = 0; refused[p] = 0; mine[p] = 0; unseen[p] = 0; running[p] = 0;
	act[p] = NOTHING; at[p] = 0; into[p] = 0; as_first[p] = 0
}

inline refuse() {
	printf("proxy %d meets other terms, and grants nothing any more\n", p + 1);
	refused[p] = 1; running[p] = 0; unseen[p] = 0;
	act[p] = NOTHING; at[p] = 0; into[p] = 0; as_first[p] = 0
}

proctype Client(byte c) {
	byte x;
end:	do
	:: d_step { ALIVE(c) ->
		if
		:: phase[c] == HOLDING -> printf("the lock of client %c ends\n", NAME(c))
		:: else -> printf("client %c hears no\n", NAME(c))
		fi;
		phase[c] = OVER; granted[c] = 0;
		for (x : 0 .. MASTERS - 1) {
			since[x] = since[x] & ~(1 << c);
			if
			:: owner[x] == c + 1 -> owner[x] = 0
			:: else
			fi
		}
		x = 0
	   }
	od
}

#ifdef STAYS_WITH_ITS_OWN
#define GIVES_UP NONE_BEARS(known[p])
#else
#define GIVES_UP (known[p] != STANDS)
#endif
#define LOOKS (!gone[p] && !refused[p] && act[p] == NOTHING && running[p] == 0 && !MEETS_OTHERS)

/* Of client p, on master X(k). */
#define VOTE(k) \
	:: d_step { !calm && SERVES && known[p] != 0 && phase[p] == ACQUIRING && VOTES_IN(X(k), known[p]) && owner[X(k)] == 0 -> \
		printf("master %d grants client %c\n", X(k) + 1, NAME(p)); \
		owner[X(k)] = p + 1; \
		if \
		:: granted[p] != 0 -> \
			printf("client %c has WON\n", NAME(p)); \
			phase[p] = HOLDING; \
			assert(phase[1 - p] != HOLDING) /* never two holders */ \
		:: else \
		fi; \
		granted[p] = granted[p] | (1 << X(k)) \
	   }

#define decide(what, k, i, f) act[p] = what; at[p] = X(k); into[p] = i; as_first[p] = f

/* A quarantine is over when no lock from before is alive; that of a first start when
 * all other proxies have looked, and what they granted until then is not alive either. */
#ifdef OTHER_TERMS
#ifdef UNLOOKED
#define ALL_LOOKED true
#else
#ifdef SHORT_FIRST_WAIT
#define ALL_LOOKED (unseen[1 - p] == 0)
#else
#define ALL_LOOKED (unseen[1 - p] == 0 && !(refused[1 - p] && ALIVE(1 - p)))
#endif
#endif
#else
#define ALL_LOOKED true
#endif
#ifdef UNSORTED
#define BEGINS  (p == 0 -> X(0) : X(2))
#define ENDS    (p == 0 -> X(2) : X(0))
#define NEXT(x) (p == 0 -> x + 1 : x - 1)
#else
#define BEGINS  X(0)
#define ENDS    X(2)
#define NEXT(x) (x + 1)
#endif
#ifdef FIRST_AT_ONCE
#define OVER_ON(x) (!votes[x] && (first[x] || since[x] == 0))
#else
#define OVER_ON(x) (!votes[x] && since[x] == 0 && ALL_LOOKED)
#endif
#ifdef GONE_IS_NOT_FIRST
#define FIRST_IN(i) 0
#else
#define FIRST_IN(i) (!ONE_VOTES(i))
#endif
#ifdef ADMITTED_ALONE
#define COMPLETE(i) true
#else
#define COMPLETE(i) (ALL_BEAR(i) || ONE_VOTES(i))
#endif
#ifdef GRANTS_ON
#define SERVES !gone[p]
#else
#define SERVES (!gone[p] && !refused[p])
#endif
#ifdef ANY_ORDER
#define IN_ORDER(k) true
#else
#define IN_ORDER(k) (ONE_VOTES(known[p]) || (k < 1 || BEARS(X(0), known[p])) && (k < 2 || BEARS(X(1), known[p])))
#endif

#define DECIDE(k) \
	:: d_step { LOOKS && known[p] != 0 && BLANK(X(k)) && IN_ORDER(k) -> decide(QUARANTINE, k, known[p], FIRST_IN(known[p])) } \
	:: d_step { LOOKS && known[p] != 0 && !BLANK(X(k)) && !BEARS(X(k), STANDS) && !VOTES(X(k)) -> \
		decide(QUARANTINE, k, STANDS, !ONE_VOTES(STANDS)) \
	   } \
	:: d_step { LOOKS && known[p] != 0 && BEARS(X(k), STANDS) && STALE(X(k)) -> decide(QUARANTINE, k, STANDS, 0) } \
	:: d_step { LOOKS && known[p] != 0 && BEARS(X(k), known[p]) && OVER_ON(X(k)) && (!first[X(k)] || COMPLETE(known[p])) -> \
		decide(ADMIT, k, known[p], 0) \
	   }

proctype Proxy(byte p) {
	byte x, i;
end:	do
	VOTE(0) VOTE(1) VOTE(2)
	:: d_step { !gone[p] && !refused[p] && MEETS_OTHERS -> refuse() }
	:: d_step { LOOKS && unseen[p] != 0 -> unseen[p] = 0 }
	:: d_step { LOOKS && !ALL_BLANK && (known[p] == 0 || GIVES_UP) ->
		known[p] = STANDS; unseen[p] = 0;
		printf("proxy %d takes installation %c\n", p + 1, 64 + known[p])
	   }
	:: d_step { LOOKS && ALL_BLANK && known[p] == 0 ->
		known[p] = 2 + p + 2 * drawn[p]; drawn[p] = 1; running[p] = BEGINS + 1; unseen[p] = 0;
		printf("proxy %d finds all masters blank, and draws installation %c\n", p + 1, 64 + known[p])
	   }
	/* The next mark of its own first start: a script that finds no key and no marker. */
	:: d_step { !gone[p] && running[p] != 0 ->
		x = running[p] - 1;
		if
#ifdef MARKS_OVER
		:: true ->
#else
		:: BLANK(x) && owner[x] == 0 ->
#endif
			printf("proxy %d marks master %d as first of %c\n", p + 1, x + 1, 64 + known[p]);
			mark(x, known[p], 1);
			mine[p] = mine[p] | (1 << x);
			running[p] = (x == ENDS -> 0 : NEXT(x) + 1)
#ifndef MARKS_OVER
		:: !BLANK(x) && STRANGE(x) -> refuse()
		:: else -> running[p] = 0 /* it looks again */
#endif
		fi;
		x = 0
	   }
	DECIDE(0) DECIDE(1) DECIDE(2)
	:: d_step { !gone[p] && act[p] == QUARANTINE ->
		x = at[p];
		printf("proxy %d marks master %d as quarantined in %c%c\n", p + 1, x + 1, 64 + into[p], (as_first[p] -> 102 : 32));
		act[p] = NOTHING;
		mark(x, into[p], as_first[p]);
		at[p] = 0; into[p] = 0; as_first[p] = 0; x = 0
	   }
	:: d_step { !gone[p] && act[p] == ADMIT ->
		x = at[p]; i = into[p];
		printf("proxy %d ADMITS master %d to %c\n", p + 1, x + 1, 64 + i);
		act[p] = NOTHING; at[p] = 0; into[p] = 0; as_first[p] = 0;
		mine[0] = mine[0] & ~(1 << x); mine[1] = mine[1] & ~(1 << x);
		drop(0, x); drop(1, x);
		inst[x] = i; votes[x] = 1; first[x] = 0; fresh_process(x);
		x = 0; i = 0
	   }
	/* Other terms: it takes its own first marks back. */
	:: d_step { !gone[p] && refused[p] && mine[p] != 0 ->
		do
		:: IN(mine[p], x) -> break
		:: else -> x++
		od;
		printf("proxy %d takes its mark on master %d back\n", p + 1, x + 1);
		clear(x); x = 0
	   }
	:: d_step { !gone[p] && !calm && deaths > 0 -> deaths--;
		printf("proxy %d dies, and is started anew\n", p + 1);
		start_anew()
	   }
	:: d_step { calm == p + 2 && refused[p] && mine[p] == 0 && writes < 20 -> writes = writes + 5;
		printf("proxy %d is started anew\n", p + 1);
		start_anew()
	   }
	od
}

inline lose(x) { clear(x); owner[x] = 0 }

#define LOSE(x) \
	:: d_step { !calm && losses > 0 && (inst[x] != 0 || owner[x] != 0) -> losses--; \
		printf("master %d LOSES its memory\n", x + 1); \
		lose(x) \
	   }
#if RESTARTS > 0
#define RESTART(x) \
	:: d_step { !calm && restarts > 0 && inst[x] != 0 -> restarts--; \
		printf("master %d is RESTARTED with an old dump\n", x + 1); \
		stale[x] = votes[x]; owner[x] = 0 \
	   }
#else
#define RESTART(x)
#endif

#define A_QUORUM_VOTES(i) (VOTES_IN(X(0), i) + VOTES_IN(X(1), i) + VOTES_IN(X(2), i) >= 2)

proctype World() {
	byte j, p;
	bit one_goes_on, a_quorum_votes;
end:	do
	LOSE(0) LOSE(1) LOSE(2)
	RESTART(0) RESTART(1) RESTART(2)
#if SHIFT > 0
	LOSE(3) RESTART(3)
#endif
#if SHIFT > 1
	LOSE(4) RESTART(4)
#endif
	:: d_step { !calm && totals > 0 -> totals--;
		printf("ALL masters lose their memory\n");
		for (j : 0 .. MASTERS - 1) { lose(j) }
		j = 0
	   }
#ifndef JUST_HOLDERS
	:: d_step { !calm && !ALIVE(0) && !ALIVE(1) -> calm = 1; printf("nothing goes wrong any more\n") }
#ifdef OTHER_TERMS
	:: d_step { !calm && !ALIVE(0) && !ALIVE(1) -> calm = 2; gone[1] = 1; unseen[1] = 0; printf("nothing goes wrong any more, and only proxy 1 goes on\n") }
	:: d_step { !calm && !ALIVE(0) && !ALIVE(1) -> calm = 3; gone[0] = 1; unseen[0] = 0; printf("nothing goes wrong any more, and only proxy 2 goes on\n") }
#endif
	:: timeout && calm -> break
#endif
	od;
	skip; /* a jump may not end in a d_step */
#ifndef JUST_HOLDERS
	d_step {
		p = (calm == 3 -> 1 : 0);
		for (j : 0 .. MASTERS - 1) { printf("master %d: %c%c%c\n", j + 1, (inst[j] == 0 -> 45 : 64 + inst[j]), (first[j] -> 102 : 32), (VOTES(j) -> 118 : 32)) }
		j = 0;
#ifdef OTHER_TERMS
		p = (calm == 1 -> refused[0] : p);
#if LOSSES == 0
		one_goes_on = calm != 1 || !refused[0] || !refused[1];
		assert(one_goes_on);
#endif
		a_quorum_votes = refused[p] || A_QUORUM_VOTES(known[p]);
#else
		a_quorum_votes = known[0] == known[1] && A_QUORUM_VOTES(known[0]);
#endif
		assert(a_quorum_votes)
	}
#endif
}

init {
	byte i;
	d_step {
		phase[0] = OVER; phase[1] = OVER;
#ifdef A_ASKS
		phase[0] = ACQUIRING;
#endif
#ifdef B_ASKS
		phase[1] = ACQUIRING;
#endif
#ifdef STARTED
		for (i : 0 .. 2) { inst[i] = 1; votes[i] = 1 }
		known[0] = 1;
#endif
		i = 0
	}
	atomic { run Proxy(0); run Proxy(1); run Client(0); run Client(1); run World(); i = 0 }
}
