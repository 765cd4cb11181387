/* A proxy with one master configured, over a master of a set; see
 * quorum/README.md. The set of masters 1 to 3 has its first start meanwhile. Client A asks in
 * the set; client B asks the lone proxy, which has master 3 alone. */

#ifndef LOSSES
#define LOSSES 0 /* master 3 forgets */
#endif
#define ALONE 2
#define NAME(k) (65 + (k))
byte losses = LOSSES;
byte owner[3]; /* 0, or the client plus one */
bit  marked[3];
bit  votes[3];
bit  since;    /* B's lock, or an attempt of it, was alive at the last mark */
bit  alive_at[3]; /* the same, at each master's own mark */

#define IDLE    0
#define SET_OUT 1 /* B's SET was carried out, and the proof is still to come */
#define HOLDING 2
byte phase[2];
byte granted;  /* to A */
bit  met;      /* the lone proxy has met a marker */
bit  open;     /* its gate was passed */
byte tries = 2;

#ifdef LONE_NO_PROOF
#define IN_PROOF false
#else
#define IN_PROOF marked[ALONE]
#endif
#ifdef LONE_GOES_ON
#define REFUSES false
#else
#define REFUSES met
#endif
#ifdef FROM_OWN_MARK
#define WAITED(x) (marked[0] && marked[1] && marked[2] && !alive_at[x])
#else
#define WAITED(x) (marked[0] && marked[1] && marked[2] && !since)
#endif

proctype Lone() {
end:	do
	:: d_step { !open && !REFUSES ->
		if
		:: marked[ALONE] -> met = 1; printf("the lone proxy meets a marker at the gate\n")
		:: else -> open = 1; printf("the lone proxy finds no marker at the gate\n")
		fi
	   }
	:: d_step { open && !REFUSES && phase[1] == IDLE && tries > 0 && owner[ALONE] == 0 -> tries--;
		printf("master 3 grants client B\n");
		owner[ALONE] = 2; phase[1] = SET_OUT
	   }
	:: d_step { phase[1] == SET_OUT ->
		if
		:: IN_PROOF -> met = 1; phase[1] = IDLE; owner[ALONE] = (owner[ALONE] == 2 -> 0 : owner[ALONE]);
			since = 0; alive_at[0] = 0; alive_at[1] = 0; alive_at[2] = 0;
			printf("the lone proxy meets a marker in the proof\n")
		:: else ->
			printf("client B has WON, by master 3 alone\n");
			phase[1] = HOLDING;
			assert(phase[0] != HOLDING) /* never two holders */
		fi
	   }
	:: d_step { phase[1] == HOLDING ->
		printf("the lock of client B ends\n");
		phase[1] = IDLE; owner[ALONE] = (owner[ALONE] == 2 -> 0 : owner[ALONE]);
		since = 0; alive_at[0] = 0; alive_at[1] = 0; alive_at[2] = 0
	   }
	od
}

#define MARK(x) \
	:: d_step { !marked[x] && (x == 0 || marked[x - (x > 0)]) -> \
		printf("master %d is marked\n", x + 1); \
		marked[x] = 1; since = (phase[1] != IDLE); alive_at[x] = (phase[1] != IDLE) \
	   } \
	:: d_step { marked[x] && !votes[x] && WAITED(x) -> \
		printf("master %d is ADMITTED\n", x + 1); \
		votes[x] = 1 \
	   } \
	:: d_step { votes[x] && owner[x] == 0 && phase[0] == IDLE && granted != 4 -> \
		printf("master %d grants client A\n", x + 1); \
		owner[x] = 1; granted++; \
		if \
		:: granted == 2 -> \
			printf("client A has WON\n"); phase[0] = HOLDING; \
			assert(phase[1] != HOLDING) \
		:: else \
		fi \
	   }

proctype Set() {
end:	do
	MARK(0) MARK(1) MARK(2)
	:: d_step { granted == 2 ->
		printf("the lock of client A ends\n");
		phase[0] = IDLE; granted = 4;
		owner[0] = (owner[0] == 1 -> 0 : owner[0]); owner[1] = (owner[1] == 1 -> 0 : owner[1]); owner[2] = (owner[2] == 1 -> 0 : owner[2])
	   }
#ifdef UNMET
	:: d_step { losses > 0 && votes[ALONE] -> losses--;
#else
	:: d_step { losses > 0 && votes[ALONE] && met -> losses--;
#endif
		printf("master 3 LOSES its memory\n");
		owner[ALONE] = 0; marked[ALONE] = 0; votes[ALONE] = 0; open = 0
	   }
	od
}

init { atomic { run Lone(); run Set() } }
