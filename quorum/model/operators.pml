/* Two operators give the same order to change the set at once; see
 * conf/README.md. Masters 1 2 3 become NEW, as bits. The old proxies are stopped;
 * client A holds a lock that two of the old masters granted; then both ask in the new
 * set. Each run is script by script, and may die anywhere and be ordered again. The
 * operators name the masters in opposite orders. A master of the new set may lose its
 * memory when it votes already; that proxies let it vote again is not modelled. */

#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef NEW
#define NEW 14
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#define OLD 7
#if NEW > 15
#define MASTERS 5
#else
#define MASTERS 4
#endif
#define IN(s, x) (((s) >> (x)) & 1)
#define SIZE(s) (IN(s, 0) + IN(s, 1) + IN(s, 2) + IN(s, 3) + IN(s, 4))
#define ALL ((1 << MASTERS) - 1)
#define NAME(k) (65 + (k))

/* What a master's marker says. The order of the parts is the order in which they come. */
#define NO_MARKER 0
#define REMEMBERS 1 /* votes in the old set */
#define BEGUN     2 /* of the new set, provisional, and has to be given everything */
#define KEPT      3 /* of the new set, provisional, and holds what it granted in the old one */
#define GIVEN     4 /* the same, when all of the new set have been given that */
#define DONE      5
#define LEFT      6 /* it has voted, and forgotten: the proxies' */
byte part[MASTERS];
byte inst[MASTERS];  /* the new set's installation: 0, 1 or 2 */
byte owner[MASTERS]; /* 0, or the client plus one */
bit  holds[2];
bit  asked[2];       /* in the new set */
byte granted[2];     /* the masters of it, as bits */
byte deaths = DEATHS;
byte losses = LOSSES;

/* A run: what it has read, and under which nonces that still stands. */
byte read[2];  /* masters that it has read, as bits */
byte valid[2]; /* those of them whose nonce is the one that it read, or wrote */
byte was[2 * MASTERS]; /* what it has read there, or written */
byte into[2];
byte filled[2];
bit  over[2];  /* it has ended */
byte giving[2]; /* the master that it is about to give what it has found, plus one */
bit  found[2];  /* that is A's lock */
byte late[2];   /* masters, as bits, that it has read as begun under other nonces than are told to have been given */
byte begun_late;
#define W(x) was[p * MASTERS + (x)]

#ifdef OWN_INSTALLATION
#define INTO (p + 1)
#else
#define INTO 1 /* follows from the old installation and the new terms */
#endif
#ifdef CHANGE_NO_NONCE
#define GUARD(x) true
#else
#define GUARD(x) IN(valid[p], x)
#endif

/* It marks those that are not of the old set first, then as its order names them. */
#define BEFORE(x, y) (IN(OLD, x) != IN(OLD, y) -> !IN(OLD, x) : (p == 0 -> x < y : x > y))
#define TO_MARK(x) (W(x) == NO_MARKER || W(x) == REMEMBERS || (W(x) == BEGUN && IN(late[p], x) && OVER))
#define WAITS(x, y) (x != y && TO_MARK(y) && BEFORE(y, x))
#if NEW > 15
#define MARKS_NEXT(x) (TO_MARK(x) && !WAITS(x, 0) && !WAITS(x, 1) && !WAITS(x, 2) && !WAITS(x, 3) && !WAITS(x, 4))
#define ALL_MARKED (!TO_MARK(0) && !TO_MARK(1) && !TO_MARK(2) && !TO_MARK(3) && !TO_MARK(4))
#define FILLED (HAS(0) && HAS(1) && HAS(2) && HAS(3) && HAS(4))
#define ANY(w) (W(0) == w || W(1) == w || W(2) == w || W(3) == w || W(4) == w)
#define ANY_IS(w) (part[0] == w || part[1] == w || part[2] == w || part[3] == w || part[4] == w)
#else
#define MARKS_NEXT(x) (TO_MARK(x) && !WAITS(x, 0) && !WAITS(x, 1) && !WAITS(x, 2) && !WAITS(x, 3))
#define ALL_MARKED (!TO_MARK(0) && !TO_MARK(1) && !TO_MARK(2) && !TO_MARK(3))
#define FILLED (HAS(0) && HAS(1) && HAS(2) && HAS(3))
#define ANY(w) (W(0) == w || W(1) == w || W(2) == w || W(3) == w)
#define ANY_IS(w) (part[0] == w || part[1] == w || part[2] == w || part[3] == w)
#endif
#define ALL_READ (read[p] == ALL)
#define HAS(x) (!IN(NEW, x) || IN(filled[p], x) || W(x) >= DONE)
#ifdef NOT_ALL_FILLED
#define MAY_ADMIT true
#else
#define MAY_ADMIT (FILLED && !ANY(KEPT))
#endif
/* All of the new set have been given what the old one held: who has no part in it has voted. */
#ifdef ADMITS_AGAIN
#define OVER false
#else
#define OVER (ANY(GIVEN) || ANY(DONE))
#endif
#ifdef BEGUN_IS_GIVEN
#define LATE false
#else
#define LATE (ANY_IS(GIVEN) || ANY_IS(DONE))
#endif

inline begin_anew() {
	read[p] = 0; valid[p] = 0; filled[p] = 0; into[p] = 0; giving[p] = 0; found[p] = 0; late[p] = 0;
	for (j : 0 .. MASTERS - 1) { W(j) = 0 }
	j = 0
}

inline lost_nonce() {
#ifdef NO_REREAD
	printf("run %d finds another marker there, and ends\n", p + 1);
	over[p] = 1; begin_anew()
#else
	printf("run %d finds another marker there, and reads again\n", p + 1);
	begin_anew()
#endif
}

inline put(x, what) {
	part[x] = what; inst[x] = into[p]; W(x) = what;
	valid[1 - p] = valid[1 - p] & ~(1 << (x)); valid[p] = valid[p] | (1 << (x))
}

#define READ(x) \
	:: d_step { !over[p] && read[p] == (1 << x) - 1 -> \
		read[p] = read[p] | (1 << x); valid[p] = valid[p] | (1 << x); W(x) = part[x]; late[p] = late[p] | (begun_late & (1 << x)); \
		if \
		:: inst[x] != 0 && into[p] != 0 && inst[x] != into[p] -> \
			printf("run %d finds two new installations, and refuses\n", p + 1); \
			over[p] = 1; begin_anew() \
		:: inst[x] != 0 && into[p] == 0 -> into[p] = inst[x] \
		:: else \
		fi \
	   }

/* A master of the old set that holds what it granted there, under the nonce that is known. */
#define SOURCE(y) (IN(OLD, y) && W(y) >= KEPT && W(y) != LEFT && GUARD(y))
#define STEPS(x) \
	:: d_step { !over[p] && ALL_READ && MARKS_NEXT(x) -> \
		if \
		:: GUARD(x) -> into[p] = (into[p] == 0 -> INTO : into[p]); \
			printf("run %d marks master %d for the new set %d\n", p + 1, x + 1, into[p]); \
			j = (IN(NEW, x) && OVER -> LEFT : (W(x) == REMEMBERS -> KEPT : BEGUN)); \
			begun_late = (j == BEGUN && LATE -> begun_late | (1 << x) : begun_late & ~(1 << x)); \
			put(x, j); j = 0 \
		:: else -> lost_nonce() \
		fi \
	   } \
	:: d_step { !over[p] && ALL_READ && ALL_MARKED && IN(NEW, x) && W(x) < DONE && !IN(filled[p], x) && giving[p] == 0 -> \
		if \
		:: SIZE(SOURCE(0) | (SOURCE(1) << 1) | (SOURCE(2) << 2)) >= 2 -> \
			giving[p] = x + 1; \
			found[p] = (SOURCE(0) && owner[0] == 1) || (SOURCE(1) && owner[1] == 1) || (SOURCE(2) && owner[2] == 1) \
		:: else -> lost_nonce() \
		fi \
	   } \
	:: d_step { !over[p] && ALL_READ && ALL_MARKED && giving[p] == 0 && FILLED && W(x) == KEPT -> \
		if \
		:: GUARD(x) -> printf("run %d tells master %d that all have been given what there was\n", p + 1, x + 1); put(x, GIVEN) \
		:: else -> lost_nonce() \
		fi \
	   } \
	:: d_step { !over[p] && ALL_READ && ALL_MARKED && giving[p] == 0 && MAY_ADMIT && IN(NEW, x) && W(x) < DONE -> \
		if \
		:: GUARD(x) -> printf("run %d ADMITS master %d to the new set %d\n", p + 1, x + 1, into[p]); put(x, DONE) \
		:: else -> lost_nonce() \
		fi \
	   }

proctype Run(byte p) {
	byte j, x;
end:	do
	READ(0) READ(1) READ(2) READ(3)
	STEPS(0) STEPS(1) STEPS(2) STEPS(3)
#if NEW > 15
	READ(4) STEPS(4)
#endif
	:: d_step { giving[p] != 0 ->
		x = giving[p] - 1;
		if
		:: GUARD(x) ->
			if
			:: found[p] -> printf("run %d gives A's lock to master %d\n", p + 1, x + 1); owner[x] = 1
			:: else -> printf("run %d finds nothing to give to master %d\n", p + 1, x + 1)
			fi;
			filled[p] = filled[p] | (1 << x); giving[p] = 0; found[p] = 0
		:: else -> lost_nonce()
		fi;
		x = 0
	   }
	:: d_step { !over[p] && deaths > 0 -> deaths--;
		printf("run %d dies, and is ordered again\n", p + 1);
		begin_anew()
	   }
	od
}

#define VOTE(x) \
	:: d_step { asked[c] && !holds[c] && part[x] == DONE && owner[x] == 0 -> \
		printf("master %d grants client %c\n", x + 1, NAME(c)); \
		owner[x] = c + 1; granted[c] = granted[c] | (1 << x); \
		if \
		:: SIZE(granted[c]) == 2 -> printf("client %c has WON\n", NAME(c)); holds[c] = 1; \
			assert(!holds[1 - c]) /* never two holders */ \
		:: else \
		fi \
	   } \
	:: d_step { owner[x] == c + 1 && !holds[c] && !IN(granted[c], x) -> \
		printf("what client %c left on master %d expires\n", NAME(c), x + 1); \
		owner[x] = 0 \
	   }

#if LOSSES > 0
#define FORGETS(x) \
	:: d_step { losses > 0 && part[x] == DONE && asked[0] -> \
		printf("master %d LOSES its memory\n", x + 1); \
		losses--; owner[x] = 0; part[x] = NO_MARKER; inst[x] = 0; \
		valid[0] = valid[0] & ~(1 << x); valid[1] = valid[1] & ~(1 << x) \
	   }

proctype Loss() {
end:	do
	FORGETS(0) FORGETS(1) FORGETS(2) FORGETS(3)
#if NEW > 15
	FORGETS(4)
#endif
	od
}
#endif

proctype Client(byte c) {
	byte j;
	bit one_new_set;
end:	do
	VOTE(0) VOTE(1) VOTE(2) VOTE(3)
#if NEW > 15
	VOTE(4)
#endif
	:: d_step { !asked[c] ->
		if
		:: holds[c] -> printf("the lock of client %c ends\n", NAME(c)); holds[c] = 0;
			for (j : 0 .. MASTERS - 1) { owner[j] = (owner[j] == c + 1 -> 0 : owner[j]) }
			j = 0
		:: else
		fi;
		asked[c] = 1
	   }
	:: timeout && c == 0 -> break
	od;
	skip;
	d_step {
		for (j : 0 .. MASTERS - 1) { printf("master %d: new set %d, %c\n", j + 1, inst[j], (part[j] == DONE -> 118 : 45)) }
		one_new_set = 1; /* and all of it votes */
		for (j : 0 .. MASTERS - 1) { one_new_set = one_new_set && (!IN(NEW, j) || (part[j] >= DONE && (LOSSES > 0 || inst[j] == inst[2])) || (part[j] == NO_MARKER && losses < LOSSES)) }
		assert(one_new_set)
	}
}

init {
	byte i;
	d_step { for (i : 0 .. 2) { part[i] = REMEMBERS }; holds[0] = 1 }
	if /* which of the old masters granted A's lock */
	:: owner[0] = 1; owner[1] = 1
	:: owner[0] = 1; owner[2] = 1
	:: owner[1] = 1; owner[2] = 1
	fi;
	atomic {
		run Run(0); run Client(0); run Client(1);
#ifndef ONE_RUN
		run Run(1);
#endif
#if LOSSES > 0
		run Loss();
#endif
		i = 0
	}
}
