/* The lane of a client's proxy towards one master: first in, first out. It
 * carries out one step on the master at a time; between a SET and the trailing
 * GET of its batch the master may be put to anything by anybody else. */

/* The proof: the trailing GET finds the nonce that was known when the batch was
 * sent, and TIME has not moved. */
#ifdef NO_PROOF
#define PROVEN(i, m) true
#else
#ifdef NO_PROOF_NONCE
#define PROVEN(i, m) (trusted[m] && !jumped[m])
#else
#ifdef NO_PROOF_CLOCK
#define PROVEN(i, m) (trusted[m] && nonce[m] == expect[i])
#else
#define PROVEN(i, m) (trusted[m] && nonce[m] == expect[i] && !jumped[m])
#endif
#endif
#endif

proctype Lane(byte c; byte x) {
	byte j;
end:	do
	:: d_step { !BLOCKED(c, x) && owed[L(c, x)] == LATE_SET ->
		if
		:: owner[x] == 0 ->
			printf("late SET of client %c is granted on master %d\n", NAME(c), x + 1);
			owner[x] = ME(c); owed[L(c, x)] = UNDO;
			if
			:: phase[c] == IDLE -> age[x] = FRESH
			:: else -> age[x] = OLD
			fi
		:: else ->
			printf("late SET of client %c is refused on master %d\n", NAME(c), x + 1);
			owed[L(c, x)] = NOTHING
		fi
	   }
	:: d_step { !BLOCKED(c, x) && owed[L(c, x)] == UNDO ->
		printf("master %d compares and deletes for client %c\n", x + 1, NAME(c));
		owed[L(c, x)] = NOTHING;
		take_back(c, x)
	   }
#ifdef UNDO_LATE
	:: d_step { !BLOCKED(c, x) && unsaid[L(c, x)] ->
		printf("the undo of client %c reaches master %d\n", NAME(c), x + 1);
		unsaid[L(c, x)] = 0;
		take_back(c, x)
	   }
#endif
	:: d_step { !BLOCKED(c, x) && vote[L(c, x)] == QUEUED && owed[L(c, x)] == NOTHING ->
		if
		:: !trusted[x] -> vote[L(c, x)] = NO /* nothing is sent to a master that must not vote */
		:: trusted[x] && phase[c] == ACQUIRING ->
			printf("SET of client %c is sent to master %d\n", NAME(c), x + 1);
			vote[L(c, x)] = SENT; expect[L(c, x)] = (x < FIRST_LOST -> 0 : nonce[x])
		:: trusted[x] && phase[c] == EXTENDING ->
			printf("EXPIRE of client %c is sent to master %d\n", NAME(c), x + 1);
			vote[L(c, x)] = ASKED; expect[L(c, x)] = (x < FIRST_LOST -> 0 : nonce[x])
		fi
	   }
	:: d_step { !BLOCKED(c, x) && vote[L(c, x)] == SENT ->
		if
		:: owner[x] == 0 ->
			printf("SET of client %c is carried out on master %d\n", NAME(c), x + 1);
			owner[x] = ME(c);
			if
			:: phase[c] == ACQUIRING -> vote[L(c, x)] = PROVING; age[x] = FRESH
			:: phase[c] == EXTENDING || extended[c] -> vote[L(c, x)] = NONE; age[x] = SHORT
			:: else -> vote[L(c, x)] = NONE; age[x] = FRESH
			fi
		:: owner[x] != 0 ->
			printf("SET of client %c is refused on master %d\n", NAME(c), x + 1);
			claim(LEFTOVERS || owner[x] != ME(c)); /* an attempt never meets what a "no" or a release left */
			if
			:: phase[c] == ACQUIRING -> vote[L(c, x)] = NO
			:: else -> vote[L(c, x)] = NONE
			fi
		fi;
		if
		:: vote[L(c, x)] == PROVING && x < FIRST_LOST -> vote[L(c, x)] = GRANTED /* its proof cannot fail */
		:: else
		fi;
		if
		:: vote[L(c, x)] == NO || vote[L(c, x)] == NONE -> expect[L(c, x)] = 0
		:: else
		fi
	   }
	:: d_step { !BLOCKED(c, x) && vote[L(c, x)] == ASKED ->
		if
		:: owner[x] == ME(c) ->
			printf("EXPIRE of client %c is carried out on master %d\n", NAME(c), x + 1);
			age[x] = FRESH; vote[L(c, x)] = (x < FIRST_LOST -> GRANTED : PROVING)
		:: else -> vote[L(c, x)] = NO; expect[L(c, x)] = 0
		fi
	   }
	:: d_step { !BLOCKED(c, x) && vote[L(c, x)] == PROVING ->
#ifdef PROOF_AT_ARRIVAL /* compared with what the proxy knows by now */
		expect[L(c, x)] = (trusted[x] -> nonce[x] : expect[L(c, x)]);
#endif
		if
		:: PROVEN(L(c, x), x) ->
			printf("the proof of client %c's batch on master %d is good\n", NAME(c), x + 1);
			vote[L(c, x)] = GRANTED
		:: else ->
			printf("the proof of client %c's batch on master %d fails; its vote is withheld\n", NAME(c), x + 1);
			vote[L(c, x)] = HELD; expect[L(c, x)] = 0;
			if
			:: jumped[x] -> quarantine(x)
			:: else
			fi
		fi;
		j = 0
	   }
	od
}
