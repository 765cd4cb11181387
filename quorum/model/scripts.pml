/* Journaled scripts over a lock that its holder may take again, as a hash with a
 * count (Redisson's): who decides by what, what is put back, who is brought up,
 * and what is under way when the decision falls. Three masters, of which one at a
 * time may be away; clients A and B, each by a proxy of its own. */

#define N 3
#define QUORUM 2
#ifndef TRIES0
#define TRIES0 4 /* scripts of client A */
#endif
#ifndef AWAYS
#define AWAYS 2 /* how often a master goes away */
#endif
#define NAME(k) (65 + (k))
#define L(c, x) ((c) * N + (x))

/* A master: who holds the key, and how often it has been taken. */
byte owner[N];
byte count[N];
byte away = N;
byte aways = AWAYS;

/* A client: how often it holds the key by what it was told, and its script. */
#define NOTHING 0
#define LOCK    1
#define UNLOCK  2
byte depth[2];
byte tries[2];
byte script[2];

/* What the script has come to on each master. */
#define NONE  0
#define SENT  1
#define DONE  2
#define NO    3 /* it acts for its client alone: another has the key, or nobody has */
byte vote[2 * N];
byte was[2 * N];
byte made[2 * N];

/* What a lane owes: where the key is held as often as the script has made of it,
 * it is held so often from then on. */
#define NOT_OWED 255
byte owed[2 * N];
byte instead[2 * N];

#ifdef WHATEVER_IT_HOLDS
#define AS_IT_WAS(c, x) true
#else
#define AS_IT_WAS(c, x) (owner[x] == c + 1 && count[x] == instead[L(c, x)])
#endif

/* A script that was in a master's socket when its decision fell. */
byte stale[2 * N];

#ifdef JUST_HOLDERS
#define claim(x) skip
#else
#define claim(x) assert(x)
#endif
bit  behind;  /* a master has something else of the key than a quorum, for good */
bit  abreast; /* the last script was carried out by all, and none was away since */
#define QUIET (script[0] == NOTHING && script[1] == NOTHING && away == N && \
	owed[0] == NOT_OWED && owed[1] == NOT_OWED && owed[2] == NOT_OWED && \
	owed[3] == NOT_OWED && owed[4] == NOT_OWED && owed[5] == NOT_OWED)
#define EQUAL(x, y) (owner[x] == 0 || owner[y] == 0 || owner[x] == owner[y] && count[x] == count[y])
#define ALIKE (EQUAL(0, 1) && EQUAL(0, 2) && EQUAL(1, 2)) /* who has nothing left is given nothing */

/* Two masters that have acted voted alike: they gave the same reply, and have made
 * the same of the key. An unlock says whether something is left. */
#ifdef NO_EFFECT
#define SAME(c, x, y) (script[c] == LOCK || (made[L(c, x)] == 0) == (made[L(c, y)] == 0))
#else
#define SAME(c, x, y) (made[L(c, x)] == made[L(c, y)])
#endif
#define BOTH(c, x, y) (vote[L(c, x)] == DONE && vote[L(c, y)] == DONE && SAME(c, x, y))
#define WON(c) (BOTH(c, 0, 1) || BOTH(c, 0, 2) || BOTH(c, 1, 2))
#define LOST(c) ((vote[L(c, 0)] == NO) + (vote[L(c, 1)] == NO) + (vote[L(c, 2)] == NO) >= QUORUM)

/* What master x does with a script. */
inline carry_out(c, x, what) {
	was[L(c, x)] = (owner[x] == c + 1 -> count[x] : 0);
	if
	:: what == LOCK && (owner[x] == 0 || owner[x] == c + 1) ->
		owner[x] = c + 1; count[x]++; vote[L(c, x)] = DONE
	:: what == UNLOCK && owner[x] == c + 1 ->
		count[x]--; vote[L(c, x)] = DONE;
		if
		:: count[x] == 0 -> owner[x] = 0
		:: else
		fi
	:: else -> vote[L(c, x)] = NO
	fi;
	made[L(c, x)] = (vote[L(c, x)] == DONE -> count[x] : 0)
}

inline forget(c, x) { vote[L(c, x)] = NONE; was[L(c, x)] = 0; made[L(c, x)] = 0 }

/* A master that has acted is put back, but for a removal; what is in a socket is
 * behind its date from now on, and left. */
inline ended(c) {
	for (j : 0 .. N - 1) {
#ifdef NO_DATE
		if
		:: vote[L(c, j)] == SENT -> stale[L(c, j)] = script[c]
		:: else
		fi;
#endif
		forget(c, j)
	}
	script[c] = NOTHING; j = 0
}

inline put_back(c) {
	for (j : 0 .. N - 1) {
		if
		:: vote[L(c, j)] == DONE && made[L(c, j)] > 0 -> instead[L(c, j)] = made[L(c, j)]; owed[L(c, j)] = was[L(c, j)]
		:: else
		fi
	}
}

/* What a quorum has made of the key, a master that has made something else is
 * given. */
inline bring_up(c) {
	theirs = (BOTH(c, 0, 1) || BOTH(c, 0, 2) -> made[L(c, 0)] : made[L(c, 1)]);
#ifndef NO_BRING_UP
	for (j : 0 .. N - 1) {
		if
		:: vote[L(c, j)] == DONE && made[L(c, j)] > 0 && made[L(c, j)] != theirs -> instead[L(c, j)] = made[L(c, j)]; owed[L(c, j)] = theirs
		:: else
		fi
	}
#endif
	abreast = (vote[L(c, 0)] == DONE && vote[L(c, 1)] == DONE && vote[L(c, 2)] == DONE)
}

inline begin(c, what) {
	script[c] = what; tries[c]--; abreast = 0;
	for (j : 0 .. N - 1) { vote[L(c, j)] = (away == j -> NONE : SENT) }
	j = 0
}

proctype Client(byte c) {
	byte j, theirs;
end:	do
	:: d_step { script[c] == NOTHING && tries[c] > 0 ->
		printf("client %c asks for the key\n", NAME(c));
		begin(c, LOCK)
	   }
	:: d_step { script[c] == NOTHING && tries[c] > 0 && depth[c] > 0 ->
		printf("client %c lets go of the key once\n", NAME(c));
		depth[c]--; /* it may be done, whatever is answered */
		begin(c, UNLOCK)
	   }
	:: d_step { script[c] != NOTHING && WON(c) ->
		bring_up(c);
		if
		:: script[c] == LOCK -> depth[c]++
		:: else
		fi;
		printf("client %c hears yes, and HOLDS the key %d times\n", NAME(c), depth[c]);
		ended(c); theirs = 0;
		assert(depth[0] == 0 || depth[1] == 0); /* never two holders */
		behind = (QUIET && abreast && !ALIKE); claim(!behind)
	   }
	:: d_step { script[c] != NOTHING && !WON(c) ->
		printf("client %c hears that there is no quorum, or no\n", NAME(c));
		put_back(c);
		ended(c)
	   }
	od
}

proctype Lane(byte c; byte x) {
end:	do
	:: d_step { away != x && owed[L(c, x)] != NOT_OWED ->
		if
		:: AS_IT_WAS(c, x) ->
			printf("master %d holds it for client %c %d times, as it should, instead of %d\n", x + 1, NAME(c), owed[L(c, x)], count[x]);
			owner[x] = c + 1; count[x] = owed[L(c, x)];
			if
			:: count[x] == 0 -> owner[x] = 0
			:: else
			fi
		:: else
		fi;
		owed[L(c, x)] = NOT_OWED; instead[L(c, x)] = 0;
		behind = (QUIET && abreast && !ALIKE); claim(!behind) /* who has missed something is brought up */
	   }
	:: d_step { away != x && vote[L(c, x)] == SENT && owed[L(c, x)] == NOT_OWED ->
		carry_out(c, x, script[c]);
		printf("master %d carries out the script of client %c: %d\n", x + 1, NAME(c), count[x])
	   }
#ifdef NO_DATE
	:: d_step { away != x && stale[L(c, x)] != NOTHING && vote[L(c, x)] == NONE ->
		carry_out(c, x, stale[L(c, x)]);
		printf("master %d carries out a script of client %c that was decided long ago: %d\n", x + 1, NAME(c), count[x]);
		stale[L(c, x)] = NOTHING; forget(c, x)
	   }
#endif
	od
}

#define GOES(x) \
	:: d_step { away == N && aways > 0 -> \
		printf("master %d goes AWAY\n", x + 1); \
		aways--; away = x; abreast = 0 \
	   }

proctype Away() {
end:	do
	GOES(0) GOES(1) GOES(2)
	:: d_step { away != N ->
		printf("master %d is back\n", away + 1);
		away = N
	   }
	od
}

/* A key may expire as soon as nobody relies on it. */
proctype Expiry(byte x) {
end:	do
	:: d_step { owner[x] != 0 && depth[owner[x] - 1] == 0 && script[owner[x] - 1] == NOTHING ->
		printf("what client %c left on master %d expires\n", NAME(owner[x] - 1), x + 1);
		owner[x] = 0; count[x] = 0; abreast = 0
	   }
	od
}

init {
	byte i;
	d_step {
		tries[0] = TRIES0; tries[1] = 1;
		for (i : 0 .. 2 * N - 1) { owed[i] = NOT_OWED }
		i = 0
	}
	atomic {
		for (i : 0 .. N - 1) { run Lane(0, i); run Lane(1, i); run Expiry(i) }
		run Client(0); run Client(1); run Away();
		i = 0
	}
}
