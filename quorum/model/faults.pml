/* What happens to a master by itself: keys expire, memory is lost, a clock jumps,
 * a quarantine's time is over. */

#if LOSSES > 0
byte losses = LOSSES;
#ifdef OLD_DUMP
byte dump[N]; /* what an old dump on disk holds */
#endif
#endif
#if JUMPS > 0
byte jumps = JUMPS;
#endif

proctype Master(byte x) {
	byte j;
end:	do
	:: d_step { owner[x] != 0 && ENDS(owner[x] - 1, x) ->
		printf("what client %c left on master %d expires\n", NAME(owner[x] - 1), x + 1);
		remove(x)
	   }
#if LOSSES > 0
	:: d_step { x >= FIRST_LOST && losses > 0 ->
		printf("master %d LOSES its memory; its marker is made provisional\n", x + 1);
		losses--; remove(x);
#ifdef OLD_DUMP
		owner[x] = dump[x]; age[x] = (dump[x] != 0 -> OLD : FRESH); dump[x] = 0;
#endif
		quarantine(x); j = 0
	   }
#ifdef OLD_DUMP
	:: d_step { x >= FIRST_LOST && losses > 0 && dump[x] == 0 && owner[x] != 0 ->
		printf("master %d writes a dump with client %c\n", x + 1, NAME(owner[x] - 1));
		dump[x] = owner[x]
	   }
#endif
#endif
#if JUMPS > 0
	:: d_step { x >= FIRST_LOST && jumps > 0 ->
		printf("the clock of master %d JUMPS\n", x + 1);
		jumps--; jumped[x] = 1
	   }
	:: d_step { jumped[x] ->
		printf("a probe sees the jump of master %d; its marker is made provisional\n", x + 1);
		quarantine(x); j = 0
	   }
#endif
#ifdef TIMER
#ifdef EARLY_TIMER
	:: d_step { x >= FIRST_LOST && !trusted[x] && WAITED(x) ->
#else
	:: d_step { x >= FIRST_LOST && !trusted[x] && WAITED(x) && since[x] == 0 ->
#endif
		printf("the quarantine of master %d is over\n", x + 1);
		admit(x)
	   }
#endif
	od
}
