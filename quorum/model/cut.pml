/* The connection of client A's proxy to the last master is cut, once. What was
 * in its socket may be carried out as long as the old connection lives; what the
 * lane owes is a debt from then on. The client may go on by another proxy, with
 * the same token. */

#ifdef CUTS
/* A debt names the expiry beside the value: it leaves a later lock alone. */
#ifdef NO_EXPIRY_IN_DEBTS
#define MEANT true
#else
#define MEANT (phase[0] == IDLE || age[LAST] == OLD)
#endif

/* A client may ask by another proxy with the token of a release that is still in
 * the first one's socket. Nothing guards against that: see README. */
#ifdef STRAGGLER
#define MAY_MOVE true
#else
#define MAY_MOVE (socket != UNDO && (cut || owed[L(0, LAST)] == NOTHING))
#endif

proctype Cut() {
end:	do
	:: d_step { cuts > 0 -> /* what the lane owes was not sent yet */
		printf("the connection of client A's proxy to master %d is cut\n", LAST + 1);
		cuts--; cut = 1;
		if
		:: vote[L(0, LAST)] == SENT -> socket = LATE_SET
		:: owed[L(0, LAST)] == LATE_SET -> socket = LATE_SET; owed[L(0, LAST)] = NOTHING
		:: else
		fi;
		if
		:: vote[L(0, LAST)] == SENT || vote[L(0, LAST)] == PROVING -> /* unknown */
			vote[L(0, LAST)] = (phase[0] == ACQUIRING -> NO : NONE); expect[L(0, LAST)] = 0
		:: else
		fi
	   }
	:: d_step { cuts > 0 && owed[L(0, LAST)] == UNDO -> /* it was */
		printf("the connection of client A's proxy to master %d is cut, with a compare-and-delete in its socket\n", LAST + 1);
		cuts--; cut = 1; socket = UNDO
	   }
	:: d_step { socket == LATE_SET ->
		socket = NOTHING;
		if
		:: owner[LAST] == 0 ->
			printf("the old connection's SET of client A is carried out on master %d\n", LAST + 1);
			owner[LAST] = ME(0); age[LAST] = (socket_old && phase[0] != IDLE -> OLD : FRESH)
		:: else
		fi;
		socket_old = 0
	   }
	:: d_step { socket == UNDO ->
		printf("the old connection's compare-and-delete of client A is carried out on master %d\n", LAST + 1);
		socket = NOTHING; socket_old = 0;
		take_back(0, LAST)
	   }
	:: d_step { cut ->
		printf("client A's proxy has a new connection to master %d\n", LAST + 1);
		cut = 0;
#ifndef NO_PREDECESSOR_END
		socket = NOTHING; socket_old = 0
#endif
	   }
	:: d_step { debt && !cut ->
		printf("the debt of client A is paid to master %d\n", LAST + 1);
		debt = 0;
		if
		:: MEANT -> take_back(0, LAST)
		:: else
		fi
	   }
	:: d_step { cuts == 0 && !moved && phase[0] == IDLE && tries[0] > 0 && owed[L(0, LAST)] != LATE_SET && MAY_MOVE ->
		printf("client A goes on by another proxy\n");
		moved = 1;
		debt = (owed[L(0, LAST)] == UNDO && cut);
		owed[L(0, LAST)] = NOTHING
	   }
	od
}
#endif
