/* A change of the set, with the proxies stopped: see conf/README.md.
 * OLD and NEW are sets of masters, as bits. Clients ask in the old set, then the
 * set is changed, then client B asks in the new one. Nothing else goes wrong. */

#ifndef OLD
#define OLD 7
#endif
#ifndef NEW
#define NEW 31
#endif
#define MASTERS 5
#define IN(s, x) (((s) >> (x)) & 1)
#define SIZE(s) (IN(s, 0) + IN(s, 1) + IN(s, 2) + IN(s, 3) + IN(s, 4))
#define QUORUM(s) (SIZE(s) / 2 + 1)
#define NAME(k) (65 + (k))

/* A member that stays votes at once only if all quorums of the new set that are
 * made of such members meet all quorums of the old one. Otherwise it catches up,
 * as a new member does. */
#ifdef STAYING_VOTES_AT_ONCE
#define AT_ONCE true
#else
#define AT_ONCE (QUORUM(NEW) + QUORUM(OLD) > SIZE(OLD))
#endif

#ifdef FROM_NEW_SET
#define FROM NEW
#else
#define FROM OLD
#endif
#ifdef FEWER_OLD_SOURCES
#define SOURCES (SIZE(OLD) - QUORUM(OLD))
#else
#define SOURCES (SIZE(OLD) - QUORUM(OLD) + 1)
#endif

#define IDLE      0
#define ACQUIRING 1
#define HOLDING   2

byte owner[MASTERS]; /* 0, or the client plus one */
bit  votes[MASTERS];
bit  changed;
byte phase[2];
byte tries[2];
byte asked[2];   /* the masters that have answered */
byte granted[2]; /* those of them that granted */
#ifdef OLD_PROXIES_GO_ON
#define SET(c) (c == 0 || !changed -> OLD : NEW)
#else
#define SET(c) (changed -> NEW : OLD)
#endif

proctype Client(byte c) {
	byte j;
end:	do
	:: d_step { phase[c] == IDLE && tries[c] > 0 ->
		printf("client %c asks for the key (set %c)\n", NAME(c), (SET(c) == OLD -> 111 : 110));
		tries[c]--; phase[c] = ACQUIRING; asked[c] = 0; granted[c] = 0
	   }
	:: d_step { phase[c] == ACQUIRING ->
		if
		:: SIZE(granted[c]) >= QUORUM(SET(c)) ->
			printf("client %c has WON\n", NAME(c));
			phase[c] = HOLDING;
			assert(phase[1 - c] != HOLDING) /* never two holders */
		:: else ->
			printf("client %c hears no\n", NAME(c));
			phase[c] = IDLE; asked[c] = 0; granted[c] = 0
		fi
	   }
	:: d_step { phase[c] == HOLDING ->
		printf("the lock of client %c ends\n", NAME(c));
		phase[c] = IDLE; asked[c] = 0; granted[c] = 0
	   }
	od
}

/* The proxies of the old set are stopped in the middle of what they do; what they
 * would have undone stays until it expires. */
proctype Change() {
	byte j;
end:	do
	:: d_step { !changed ->
		printf("the set is changed\n");
		changed = 1;
		for (j : 0 .. 1) {
			if
#ifdef OLD_PROXIES_GO_ON
			:: phase[j] == ACQUIRING && j == 1 -> phase[j] = IDLE; asked[j] = 0; granted[j] = 0
#else
			:: phase[j] == ACQUIRING -> phase[j] = IDLE; asked[j] = 0; granted[j] = 0
#endif
			:: else
			fi
		}
		for (j : 0 .. MASTERS - 1) { votes[j] = IN(OLD, j) && AT_ONCE }
		tries[1] = 1; j = 0
	   }
	od
}

inline carry_out(c) {
	asked[c] = asked[c] | (1 << x);
	if
	:: owner[x] == 0 ->
		printf("master %d grants client %c\n", x + 1, NAME(c));
		owner[x] = c + 1; granted[c] = granted[c] | (1 << x)
	:: else -> printf("master %d refuses client %c\n", x + 1, NAME(c))
	fi
}

/* A master, and its catch-up if it is a member of the new set that may not vote. */
#define READ(y) \
	:: d_step { changed && IN(NEW, x) && !votes[x] && !copied && IN(FROM, y) && !IN(read, y) -> \
		printf("master %d reads of master %d: %c\n", x + 1, y + 1, (owner[y] == 0 -> 45 : 64 + owner[y])); \
		read = read | (1 << y); \
		if \
		:: owner[y] == 0 || owner[y] == found \
		:: owner[y] != 0 && found == 0 -> found = owner[y] \
		:: owner[y] != 0 && found != 0 && owner[y] != found -> read = 0; found = 0 \
		fi \
	   }

proctype Master(byte x) {
	byte read, found;
	bit copied;
end:	do
	:: d_step { phase[0] == ACQUIRING && IN(SET(0), x) && votes[x] && !IN(asked[0], x) -> carry_out(0) }
	:: d_step { phase[1] == ACQUIRING && IN(SET(1), x) && votes[x] && !IN(asked[1], x) -> carry_out(1) }
	:: d_step { owner[x] != 0 && (phase[owner[x] - 1] == IDLE || (phase[owner[x] - 1] == ACQUIRING && !IN(granted[owner[x] - 1], x))) ->
		printf("what client %c left on master %d expires\n", 64 + owner[x], x + 1);
		owner[x] = 0
	   }
	READ(0) READ(1) READ(2) READ(3) READ(4)
	:: d_step { !copied && !votes[x] && SIZE(read) >= SOURCES ->
		printf("master %d takes over: %c\n", x + 1, (found == 0 -> 45 : 64 + found));
		copied = 1; owner[x] = (found != 0 -> found : owner[x]); found = 0; read = 0
	   }
	:: d_step { copied && !votes[x] ->
		printf("master %d is ADMITTED\n", x + 1);
		votes[x] = 1
	   }
	od
}

init {
	byte i;
	d_step {
		for (i : 0 .. MASTERS - 1) { votes[i] = IN(OLD, i) }
		tries[0] = 1; tries[1] = 1;
#ifdef A_HOLDS /* the walk begins with a lock that the last masters of the old set granted; the others refused, for leftovers of B */
		tries[0] = 0; tries[1] = 0; phase[0] = HOLDING;
		for (i : 0 .. SIZE(OLD) - 1) {
			if
			:: i < SIZE(OLD) - QUORUM(OLD) -> owner[i] = 2
			:: else -> owner[i] = 1; granted[0] = granted[0] | (1 << i)
			fi
		}
		asked[0] = granted[0];
#endif
		i = 0
	}
	atomic {
		for (i : 0 .. MASTERS - 1) { run Master(i) }
		run Client(0); run Client(1); run Change(); i = 0
	}
}
