/* A catch-up of one master by one proxy, script by script. got[x] of the master
 * itself is unused; the proxy remembers which master and under which nonce. */

/* A catch-up, or a timer's end, waits until no undecided op counts an old vote: one
 * acquire-timeout and a margin. */
#ifdef NO_WAIT
#define WAITED(m) true
#else
#if CLIENTS == 3
#define WAITED(m) (!OLD_VOTE(0, m) && !OLD_VOTE(1, m) && !OLD_VOTE(2, m))
#else
#define WAITED(m) (!OLD_VOTE(0, m) && !OLD_VOTE(1, m))
#endif
#endif

#ifdef NO_GUARD
#define GUARD true
#else
#ifdef NO_GUARD_NONCE
#define GUARD (!trusted[x])
#else
#define GUARD (!trusted[x] && nonce[x] == under)
#endif
#endif

/* What a source answers counts only while it is the one it was. */
#ifdef NO_SOURCE_NONCE
#define SAME_SOURCE(y) (got_nonce[G(y)] != 0)
#else
#define SAME_SOURCE(y) (trusted[y] && nonce[y] == got_nonce[G(y)])
#endif

#define G(y) (p * N + (y))

#define OFF      0
#define READING  1
#define COPIED   2 /* what the sources agree on is on the master */
#define CHECKING 3 /* the sources are read again, for the copy */

inline forget_readings() {
	for (j : 0 .. N - 1) { got_owner[G(j)] = UNREAD; got_age[G(j)] = FRESH }
}

inline stop() {
	for (j : 0 .. N - 1) { got_owner[G(j)] = 0; got_age[G(j)] = FRESH; got_nonce[G(j)] = 0 }
	stage = OFF; x = 0; under = 0; want = 0
}

#define READ_OF(y) (x != (y) && got_owner[G(y)] != UNREAD)
#if N == 5
#define ENOUGH_READ (READ_OF(0) + READ_OF(1) + READ_OF(2) + READ_OF(3) + READ_OF(4) >= SOURCES)
#else
#define ENOUGH_READ (READ_OF(0) + READ_OF(1) + READ_OF(2) >= SOURCES)
#endif

/* merge looks at all that was read: what value, how long it
 * lives at most, and whether two sources disagree. */
inline merge() {
	for (j : 0 .. N - 1) {
		if
		:: j != x && got_owner[G(j)] != UNREAD ->
			if
			:: got_owner[G(j)] == 0
			:: got_owner[G(j)] != 0 && found == 0 -> found = got_owner[G(j)]; found_age = got_age[G(j)]
			:: got_owner[G(j)] != 0 && found == got_owner[G(j)] ->
#ifdef NO_LONGEST_TTL
				found_age = got_age[G(j)] /* the last that was read */
#else
				found_age = (got_age[G(j)] < found_age -> got_age[G(j)] : found_age)
#endif
			:: got_owner[G(j)] != 0 && found != 0 && found != got_owner[G(j)] ->
#ifdef NO_AGREEMENT
				skip /* the first counts */
#else
				differ = 1
#endif
			fi
		:: else
		fi
	}
	if
	:: found == 0 -> found_age = FRESH
	:: else
	fi
}

/* Client k holds a lock by the vote that master m cast before its last loss. */
#define LEANS_ON(k, m) (holds(k) && (since[m] & (1 << (k))) && (counted[k] & (1 << (m))))

inline admit(m) {
	trusted[m] = 1; nonce[m]++; jumped[m] = 0;
	for (j : 0 .. CLIENTS - 1) {
		/* admission only when every live key of the sources is held */
		claim(!LEANS_ON(j, m) || (owner[m] == ME(j) && !ENDS(j, m)))
	}
	since[m] = 0; j = 0
}

#define BEGIN(m) \
	:: d_step { stage == OFF && m >= FIRST_LOST && !trusted[m] && WAITED(m) -> \
		printf("proxy %d begins the catch-up of master %d\n", p + 1, m + 1); \
		stage = READING; x = m; under = nonce[m]; \
		for (j : 0 .. N - 1) { \
			got_owner[G(j)] = UNREAD; \
			if \
			:: j != m && trusted[j] -> got_nonce[G(j)] = nonce[j] \
			:: else \
			fi \
		} \
		j = 0 \
	   }

/* One script on a source: the value, how long it lives, and the marker. */
#define READ(y) \
	:: d_step { (stage == READING || stage == CHECKING) && x != y && got_owner[G(y)] == UNREAD && SAME_SOURCE(y) -> \
		got_owner[G(y)] = owner[y]; got_age[G(y)] = age[y]; \
		printf("proxy %d reads master %d: %c%c\n", p + 1, y + 1, COPY(owner[y], age[y])) \
	   } \
	:: d_step { (stage == READING || stage == CHECKING) && x != y && y >= FIRST_LOST && trusted[y] && nonce[y] != got_nonce[G(y)] -> \
		got_owner[G(y)] = UNREAD; got_age[G(y)] = FRESH; got_nonce[G(y)] = nonce[y]; \
		printf("proxy %d begins anew to read master %d\n", p + 1, y + 1) \
	   }

proctype CatchUp(byte p) {
	byte x, under, stage, want;
	byte j, read, found, found_age;
	bit differ;
end:	do
	BEGIN(0) BEGIN(1) BEGIN(2)
	READ(0) READ(1) READ(2)
#if N == 5
	BEGIN(3) BEGIN(4) READ(3) READ(4)
#endif
	:: d_step { stage == READING && ENOUGH_READ ->
		merge();
		if
		:: differ ->
			printf("proxy %d finds that the sources differ\n", p + 1);
			forget_readings()
		:: !differ && !GUARD ->
			printf("proxy %d: master %d is another's by now\n", p + 1, x + 1);
			stop()
		:: !differ && GUARD ->
			stage = COPIED; want = found;
			if
			:: found == 0 -> printf("proxy %d finds nothing to copy\n", p + 1)
#ifdef NO_OVERWRITE
			:: found != 0 && owner[x] != 0 -> printf("proxy %d leaves what master %d holds\n", p + 1, x + 1)
			:: found != 0 && owner[x] == 0 ->
#else
			:: found != 0 ->
#endif
				printf("proxy %d copies %c%c to master %d\n", p + 1, COPY(found, found_age), x + 1);
				owner[x] = found; age[x] = found_age
			fi;
			forget_readings()
		fi;
		read = 0; found = 0; found_age = 0; differ = 0; j = 0
	   }
#ifdef TAKE_BACK
	:: d_step { stage == COPIED && want != 0 -> stage = CHECKING }
	:: d_step { stage == CHECKING && ENOUGH_READ ->
		for (j : 0 .. N - 1) {
			if
			:: j != x && got_owner[G(j)] != UNREAD -> read++;
				if
				:: got_owner[G(j)] == want -> found++
				:: else
				fi
			:: else
			fi
		}
		if
#ifdef TAKE_BACK_EARLY
		:: found < read && GUARD && owner[x] == want ->
#else
		:: found == 0 && GUARD && owner[x] == want ->
#endif
			printf("proxy %d takes the copy on master %d back\n", p + 1, x + 1);
			remove(x)
		:: else
		fi;
		forget_readings();
		stage = COPIED; want = 0; read = 0; found = 0; j = 0
	   }
#endif
	:: d_step { stage == COPIED ->
		if
		:: GUARD ->
			printf("proxy %d ADMITS master %d\n", p + 1, x + 1);
			admit(x)
		:: else -> printf("proxy %d: master %d is another's by now\n", p + 1, x + 1)
		fi;
		stop(); j = 0
	   }
	:: d_step { stage != OFF -> printf("proxy %d dies\n", p + 1); stop(); j = 0 }
	od
}
