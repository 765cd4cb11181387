/* A client and the part of its proxy that tallies. Decisions fall at any time
 * at which the votes allow them; a "no" may fall at any time, for a time-out. */

/* All copies of client k are now those of an earlier attempt. */
inline grow_old(k) {
	for (j : 0 .. N - 1) {
		if
		:: owner[j] == ME(k) -> age[j] = OLD
		:: else
		fi
	}
	for (j : 0 .. GOT - 1) {
		if
		:: got_owner[j] == ME(k) -> got_age[j] = OLD
		:: else
		fi
	}
}

/* The same for an extension: what master j holds has the ttl from before. */
inline grow_short(k) {
	for (j : 0 .. N - 1) {
		if
		:: owner[j] == ME(k) && age[j] == FRESH -> age[j] = SHORT
		:: else
		fi
	}
	for (j : 0 .. GOT - 1) {
		if
		:: got_owner[j] == ME(k) && got_age[j] == FRESH -> got_age[j] = SHORT
		:: else
		fi
	}
}

inline tally(k) {
	n = 0;
	for (j : 0 .. N - 1) {
		if
		:: vote[L(k, j)] == GRANTED -> n++
		:: else
		fi
	}
}

/* won forgets the votes; a SET that is still under way stays so. since is kept
 * true: a lock that rests on votes from after a loss is none from before it. */
inline won(k) {
	counted[k] = 0;
	for (j : 0 .. N - 1) {
		if
		:: vote[L(k, j)] == GRANTED -> counted[k] = counted[k] | (1 << j)
		:: else
		fi;
		if
		:: OLD_VOTE(k, j)
		:: else -> since[j] = since[j] & ~(1 << k)
		fi;
		if
		:: vote[L(k, j)] != SENT -> vote[L(k, j)] = NONE; expect[L(k, j)] = 0
		:: else
		fi
	}
	phase[k] = HOLDING
}

/* lost queues the undo on each master that carried the acquire out, its vote
 * counted or withheld, before the client hears "no". */
inline lost(k) {
	for (j : 0 .. N - 1) {
		if
		:: vote[L(k, j)] == SENT -> owed[L(k, j)] = LATE_SET
		:: vote[L(k, j)] == PROVING || vote[L(k, j)] == GRANTED || vote[L(k, j)] == HELD ->
#ifdef UNDO_LATE
			unsaid[L(k, j)] = 1
#else
			owed[L(k, j)] = UNDO
#endif
		:: else
		fi;
		vote[L(k, j)] = NONE; expect[L(k, j)] = 0
	}
	over(k)
}

/* A release goes to all masters, behind what their lanes still owe. */
inline release(k) {
	for (j : 0 .. N - 1) {
		if
		:: vote[L(k, j)] == SENT -> owed[L(k, j)] = LATE_SET
		:: owed[L(k, j)] == NOTHING -> owed[L(k, j)] = UNDO
		:: else
		fi;
		vote[L(k, j)] = NONE; expect[L(k, j)] = 0
	}
	over(k)
}

/* Compare-and-delete by client k, for an op of its that is over. What it deletes
 * is never the lock that the client has acquired since, or is acquiring. */
inline take_back(k, m) {
	if
	:: owner[m] == ME(k) ->
		/* a key is never taken back by someone whose lock it is not */
		claim(age[m] == OLD || !(counted[k] & (1 << m)));
		claim(age[m] == OLD || vote[L(k, m)] == NONE || vote[L(k, m)] == QUEUED || vote[L(k, m)] == NO);
		remove(m)
	:: else
	fi
}

proctype Client(byte c) {
	byte n, j;
end:	do
	:: d_step { phase[c] == IDLE && tries[c] > 0 ->
		printf("client %c asks for the key\n", NAME(c));
		tries[c]--; phase[c] = ACQUIRING;
		grow_old(c);
#ifdef CUTS
		if
		:: c == 0 -> socket_old = 1
		:: else
		fi;
#endif
		for (j : 0 .. N - 1) {
			if /* when it is sent to a master that cannot forget makes no difference */
			:: j < FIRST_LOST && owed[L(c, j)] == NOTHING -> vote[L(c, j)] = SENT
			:: else -> vote[L(c, j)] = QUEUED
			fi
		}
		j = 0
	   }
	:: d_step { phase[c] == ACQUIRING -> tally(c); j = 0;
		if
		:: n >= QUORUM ->
			printf("client %c has WON\n", NAME(c));
			won(c);
			TWO_HOLDERS(c)
		:: else ->
			printf("client %c hears no; the undo is queued\n", NAME(c));
			lost(c)
		fi;
		n = 0; j = 0
	   }
	:: d_step { holds(c) ->
		printf("client %c releases\n", NAME(c));
		release(c); j = 0
	   }
	:: d_step { holds(c) && LEFTOVERS ->
		printf("the ttl of client %c runs out\n", NAME(c));
		for (j : 0 .. N - 1) {
			if
			:: vote[L(c, j)] == SENT -> owed[L(c, j)] = LATE_SET
			:: else
			fi;
			vote[L(c, j)] = NONE; expect[L(c, j)] = 0
		}
		over(c); j = 0
	   }
#if EXTENDS > 0
	:: d_step { phase[c] == HOLDING && extends[c] > 0 && !extended[c] ->
		printf("client %c asks to extend\n", NAME(c));
		extends[c]--; phase[c] = EXTENDING;
		grow_short(c);
		for (j : 0 .. N - 1) {
			if
			:: vote[L(c, j)] == NONE && j < FIRST_LOST && owed[L(c, j)] == NOTHING -> vote[L(c, j)] = ASKED
			:: vote[L(c, j)] == NONE && (j >= FIRST_LOST || owed[L(c, j)] != NOTHING) -> vote[L(c, j)] = QUEUED
			:: else /* its SET is under way; the extension behind it stays unknown */
			fi
		}
		j = 0
	   }
	:: d_step { phase[c] == EXTENDING -> tally(c); j = 0;
		if
		:: n >= QUORUM ->
			printf("client %c has EXTENDED\n", NAME(c));
			won(c); extended[c] = 1
		:: else
		fi;
		n = 0; j = 0
	   }
#endif
	od
}
