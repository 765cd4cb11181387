/* Redlock behind the proxy, with its quarantine and catch-up: the rules of
 * quorum/README.md. What may happen how often, and which rule is left out, is
 * said by -D; the runner has the table. */
#include "words.pml"

#include "client.pml"
#include "cut.pml"
#include "lane.pml"
#include "catchup.pml"
#include "faults.pml"

init {
	byte i;
	d_step {
		for (i : 0 .. N - 1) { trusted[i] = 1; nonce[i] = 1 }
		tries[0] = TRIES0; tries[1] = TRIES1;
#if CLIENTS > 2
		tries[2] = 1;
#endif
		extends[0] = EXTENDS;
#ifdef A_HOLDS /* the walk begins with a lock that the last masters granted; the other SETs are under way */
		phase[0] = HOLDING;
		for (i : 0 .. N - 1) {
			if
			:: i < N - QUORUM -> vote[L(0, i)] = SENT
			:: else -> owner[i] = ME(0); counted[0] = counted[0] | (1 << i)
			fi
		}
#endif
		i = 0
	}
	atomic {
		for (i : 0 .. N - 1) {
			run Master(i); run Lane(0, i); run Lane(1, i)
#if CLIENTS > 2
			; run Lane(2, i)
#endif
		}
		run Client(0); run Client(1);
#if CLIENTS > 2
		run Client(2);
#endif
#ifdef CUTS
		run Cut();
#endif
#if PROXIES > 0
		run CatchUp(0);
#endif
#if PROXIES > 1
		run CatchUp(1);
#endif
		i = 0
	}
}
